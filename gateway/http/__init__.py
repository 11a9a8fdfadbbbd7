"""What the gateway knows of HTTP messages, apart from any protocol of model calls and any server."""
