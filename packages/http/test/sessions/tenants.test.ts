/** Tenants: what one principal has, no other reaches by any route. */
import { createSessions, type Sessions } from "@sessions/core"
import { createSessionHandler, sessionRoutes } from "@sessions/http/server"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { answer, clientOf, eventually, newId, textsOf } from "./server.ts"

/** One handler for all; each principal has a storage of its own. */
function tenants(): { handler: (request: Request) => Promise<Response>; of: (principal: string) => Sessions } {
  const all = new Map<string, Sessions>()
  const of = (principal: string): Sessions => {
    const known = all.get(principal) ?? createSessions({ storage: createMemoryStorage() })
    all.set(principal, known)
    return known
  }
  const handler = createSessionHandler<string>({
    sessions: of,
    authorize: (request) => request.headers.get("authorization") ?? new Response(null, { status: 401 }),
    run: answer,
  })
  return { handler, of }
}

test("the session of another principal is 404 by every route, and nothing of it is told or changed", async () => {
  const { handler, of } = tenants()
  const as =
    (principal: string) =>
    (request: Request): Promise<Response> => {
      request.headers.set("authorization", principal)
      return handler(request)
    }
  const owner = clientOf(as("owner"))
  const { id } = await owner.create({ title: "private" })
  const { messageId } = await owner.prompt(id, { text: "secret" })
  await eventually(async () => expect(await textsOf(owner, id)).toEqual(["secret", "SECRET"]))
  const { cursor } = await owner.load(id)
  const before = await of("owner").storage.head(id)
  for (const { action, method, path, body } of sessionRoutes) {
    const bodies: Record<string, object> = { rename: { title: "x" }, prompt: { id: messageId, text: "secret" } }
    if (!path.includes(":session")) continue
    const request = new Request(`http://host${path.replace(":session", id).replace(":message", messageId)}`, {
      method,
      headers: { "content-type": "application/json", "last-event-id": cursor },
      ...(body !== undefined && { body: JSON.stringify(bodies[action]) }),
    })
    const answered = await as("other")(request)
    expect([action, answered.status]).toEqual([action, 404])
    expect(await answered.text()).not.toMatch(/secret|private/i)
  }
  expect(await of("owner").storage.head(id)).toEqual(before)
  const other = clientOf(as("other"))
  expect(await other.list()).toEqual({ sessions: [], unreadable: [] })
  await expect(other.load(id, { before: messageId })).rejects.toMatchObject({ status: 404 })
  // The same id in another storage is another session, with its own prompts and events.
  await of("other").create({ id })
  expect(await textsOf(other, id)).toEqual([])
  await other.prompt(id, { id: messageId, text: "own" })
  await eventually(async () => expect(await textsOf(other, id)).toEqual(["own", "OWN"]))
  expect(await textsOf(owner, id)).toEqual(["secret", "SECRET"])
})

test("a request without a principal is refused in every route", async () => {
  const { handler } = tenants()
  for (const { method, path } of sessionRoutes) {
    const url = `http://host${path.replace(":session", newId()).replace(":message", newId())}`
    expect((await handler(new Request(url, { method }))).status).toBe(401)
  }
})
