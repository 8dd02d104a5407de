"""Where everything is put together: the one place that knows every floor, and the public :class:`Vault`."""

from memoranda.bootstrap.vault import Vault, default_vault, migrate

__all__ = ["Vault", "default_vault", "migrate"]
