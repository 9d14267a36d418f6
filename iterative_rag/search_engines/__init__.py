"""Web search engines behind one protocol: each lists addresses for a query. The user says whether any is asked."""
