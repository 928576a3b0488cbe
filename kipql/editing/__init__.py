"""What an editor asks of a text, the shell and the language server alike: classes of its pieces, words that may stand
somewhere, what a name means. A terminal, an editor's protocol and an HTML page each dress that up elsewhere."""
