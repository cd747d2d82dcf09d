/** What programs of the pages run in: `indexedDB` in memory, and a server on loopback in place of the model providers, which keeps no process alive. */
import { startFakeServer } from "../providers/fake-server.ts"

// @ts-expect-error: this entry has no types; it sets the globals.
await import("fake-indexeddb/auto")
const { server, variables } = await startFakeServer()
server.unref().on("connection", (socket) => void socket.unref())
Object.assign(process.env, variables)
