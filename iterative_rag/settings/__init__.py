"""Settings: their model, the layers that they are read from, and the folders that are trusted."""

from iterative_rag.settings.layers import config_folder, home, settings_files
from iterative_rag.settings.model import PRESETS, Settings, load_settings
