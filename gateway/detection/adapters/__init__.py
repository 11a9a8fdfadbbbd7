"""Detection that an operator brings along. Each file is one way; both fail closed."""
