/** A real server of Bun on loopback. */
import type { Serve } from "./serve.ts"

interface Bun {
  serve(o: object): { readonly url: URL; unref(): void }
}

export const serve: Serve = async (handler) => {
  const { Bun } = globalThis as unknown as { readonly Bun: Bun }
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: handler })
  server.unref()
  return server.url.href
}
