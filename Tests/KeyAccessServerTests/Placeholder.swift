// replaced by its author
