"""The API shell: watches in, decisions carried out. What is decided is none of its business."""
