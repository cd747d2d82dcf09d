/** `route-process.ts STORAGE ROOT ROUTE FOLDER`: asks a route for an answer whose tool does not end, and prints that it runs. */
import { call, step, text, user } from "./model.ts"
import { chunksOf, routes } from "./routes.ts"
import { openStorage } from "./storage-of-process.ts"

const [kind = "", root = "", route = "", folder = ""] = process.argv.slice(2)
const server = await routes[route]?.({ folder, storage: openStorage(kind, root) })
await server?.ask(user("u1", "go"), [step(text("I look."), call("c1", "hang", {}))])
const stored = await server?.resume?.()
if (stored !== undefined) await chunksOf(stored, "tool-input-available")
console.log("in the tool")
// The page has gone; the tool runs on.
setInterval(() => undefined, 1_000)
