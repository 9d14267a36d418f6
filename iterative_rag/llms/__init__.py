"""Language models: adapters of protocols.ChatModel, one a file."""
