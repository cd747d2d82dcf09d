/** A real server of Node on loopback. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { toNodeListener } from "@sessions/http/node"
import type { Serve } from "./serve.ts"

export const serve: Serve = async (handler) => {
  const server = createServer(toNodeListener(handler))
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  // It must not keep the process of the tests alive.
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
