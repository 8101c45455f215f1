"""In a project with a spider of its own."""
