"""Training of the name model as code; nothing here is part of the installed package."""
