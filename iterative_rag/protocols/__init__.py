"""What can be replaced, and what a replacement has to do.

A class implements a protocol by having its methods; it need not inherit from it. Errors are those of `errors`: an
implementation raises one of them instead of returning an empty result, and lets no exception of a library through.
"""

from iterative_rag.protocols.corpora import GIVEN, Corpus, DocumentSource, Pages, SearchEngine, Skipped
from iterative_rag.protocols.models import (
    BUILTIN,
    Cache,
    CallBudget,
    ChatModel,
    ChatReply,
    ChatRequest,
    Embedder,
    FactCheck,
    FunctionCall,
    FunctionSpec,
    QuoteReader,
    Reranker,
    Vectors,
)
from iterative_rag.protocols.roles import (
    Analyst,
    Answerer,
    Backend,
    BackendTraits,
    Confirmer,
    Extractor,
    FollowUpReader,
    Grader,
    Outliner,
    Reflector,
    Rewriter,
    Roles,
    SentenceReader,
    ToolAgent,
    Writer,
)
