"""Every value that is passed from one part of the package to another, as frozen dataclasses.

Best read in this order: documents, within, answer_forms, loop, correcting, outcomes, conversing, tool_use, steps,
run_progress.
"""

from iterative_rag.types.answer_forms import AnswerForm
from iterative_rag.types.conversing import Earlier, Exchange, FollowUpReading, StandAlone, Unclear
from iterative_rag.types.correcting import (
    Claim,
    Grade,
    Label,
    Plan,
    PlannedStep,
    PlanTool,
    Reflection,
    Rewording,
    SearchResult,
    Sufficiency,
    Verdict,
)
from iterative_rag.types.documents import (
    COLUMN_KEY,
    FILE_DATE_KEY,
    Document,
    Hit,
    Metadata,
    Passage,
    ShortlistedDocument,
)
from iterative_rag.types.loop import (
    Analysis,
    Computation,
    Continuation,
    Extract,
    Fact,
    Inquiry,
    Known,
    Need,
    Needs,
    OutlineSection,
    Stuck,
    Support,
    UnreadWindow,
    Window,
)
from iterative_rag.types.outcomes import (
    Answer,
    Cap,
    ChainLink,
    Citation,
    ConfidenceWord,
    Conflict,
    Draft,
    Fault,
    HopRecord,
    ModelUsage,
    NameReading,
    ReasonCode,
    Side,
    Status,
    UnreadDocument,
    Usage,
)
from iterative_rag.types.revising import Edit, EditKind, FactEdit, NeedEdit, Revision
from iterative_rag.types.run_progress import AnswerText, DocumentAtHand, RunProgress
from iterative_rag.types.steps import (
    Action,
    AnalysisStep,
    AnsweringStep,
    CorrectionStep,
    DegradedStep,
    FinalStep,
    FollowUpStep,
    GradingStep,
    LostRowsStep,
    PlanningStep,
    ReadingFault,
    ReadingStep,
    RefinementStep,
    ReflectionStep,
    RephrasingStep,
    ShortlistStep,
    Step,
    SufficiencyStep,
    ToolStep,
    WebStep,
)
from iterative_rag.types.tool_use import (
    AgentTurn,
    AgentView,
    CalculateCall,
    FindCall,
    NoteCall,
    QuotedPassage,
    RowsCall,
    SearchCall,
    SectionCall,
    SubmitCall,
    ToolCall,
    ToolResult,
    WrongCall,
)
from iterative_rag.types.within import Within
