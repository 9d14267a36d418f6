"""A question of a dataset: see `records`."""

from iterative_rag.evaluation.records import Answerability as Answerability
from iterative_rag.evaluation.records import Dataset as Dataset
from iterative_rag.evaluation.records import Paragraph as Paragraph
from iterative_rag.evaluation.records import Question as Question
