/** A real server of Deno on loopback. */
import type { Serve } from "./serve.ts"

interface Deno {
  serve(o: object, handler: unknown): { readonly addr: { readonly port: number }; unref(): void }
}

export const serve: Serve = async (handler) => {
  const { Deno } = globalThis as unknown as { readonly Deno: Deno }
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => undefined }, handler)
  server.unref()
  return `http://127.0.0.1:${server.addr.port}`
}
