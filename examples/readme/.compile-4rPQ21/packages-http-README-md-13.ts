import { createServer } from "node:http"
import { createFileStorage } from "@sessions/fs"
import { toNodeListener } from "@sessions/http/node"
import { createStorageHandler } from "@sessions/http/server"

const users = new Map([["Bearer 7f3c9a", "ada"]]) // use tokens of your own
const storages = new Map<string, ReturnType<typeof createFileStorage>>()

const handler = createStorageHandler({
  basePath: "/storage",
  authorize: (request) =>
    users.get(request.headers.get("authorization") ?? "") ?? new Response(null, { status: 401 }),
  storage(user) {
    const storage = storages.get(user) ?? createFileStorage({ root: `./users/${user}` })
    storages.set(user, storage)
    return storage
  },
})
createServer(toNodeListener(handler)).listen(8080)
export {}
