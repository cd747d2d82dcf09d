import type { Handler } from "@sessions/http/server"

/** Starts a server on a free port of loopback; returns its URL. It serves until the process ends. */
export type Serve = (handler: Handler) => Promise<string>
