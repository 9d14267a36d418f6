"""Every value that is passed from one part of the package to another, as frozen dataclasses.

Best read in this order: documents, within, loop, correcting, outcomes, conversing, tool_use, steps, written_answer.
"""

from iterative_rag.types.conversing import (
    Earlier,
    Edit,
    EditKind,
    Exchange,
    FactEdit,
    FollowUpReading,
    NeedEdit,
    Revision,
    StandAlone,
    Unclear,
)
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
    Verdict,
)
from iterative_rag.types.documents import (
    FILE_DATE_KEY,
    Document,
    Hit,
    Metadata,
    Passage,
    Sentence,
    ShortlistedDocument,
)
from iterative_rag.types.loop import (
    Analysis,
    AnswerForm,
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
from iterative_rag.types.steps import (
    Action,
    AnalysisStep,
    AnsweringStep,
    CorrectionStep,
    DegradedStep,
    FinalStep,
    FollowUpStep,
    GradingStep,
    PlanningStep,
    ReadingFault,
    ReadingStep,
    ReflectionStep,
    RephrasingStep,
    ShortlistStep,
    Step,
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
from iterative_rag.types.written_answer import DocumentAtHand, RunProgress
