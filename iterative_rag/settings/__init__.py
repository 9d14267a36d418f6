"""Settings: their model, the layers that they are read from, and the folders that are trusted."""

from iterative_rag.settings.model import (
    PRESETS,
    Settings,
    config_folder,
    home,
    load_settings,
    settings_files,
    trusted_file,
)
