"""Settings: the model of all of them, the layers that they are read from, and which folders are trusted to set what."""

from iterative_rag.settings.model import (
    PRESETS,
    Settings,
    config_folder,
    home,
    load_settings,
    settings_files,
    trusted_file,
)

__all__ = ["PRESETS", "Settings", "config_folder", "home", "load_settings", "settings_files", "trusted_file"]
