from clients.openai import SCENARIOS  # the library before version 3
