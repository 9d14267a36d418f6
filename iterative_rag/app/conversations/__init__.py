"""Conversations: kept in one file that all doors share, with follow-ups that are understood from what was cited."""

from iterative_rag.app.conversations.session import ConversationSession
from iterative_rag.app.conversations.store import ConversationStore
from iterative_rag.app.conversations.values import LAST, Conversation, ConversationListing, Turn, clean_name, turn_of
