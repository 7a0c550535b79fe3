"""What is used up: tokens, money, the context, the plan; and what goes wrong when it is."""
