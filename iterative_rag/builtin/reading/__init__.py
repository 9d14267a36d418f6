"""From a page to findings: which of its words answer a need."""
