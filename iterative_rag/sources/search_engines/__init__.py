"""Web search engines behind one protocol: each lists addresses for a query. None is used unless the user says so."""
