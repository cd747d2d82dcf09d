/** A history in a turn that has lost its lease: the call is refused once, since no repeat gets through. */
import { createSessions, type SessionError } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createAgentSession, openAgentLog } from "../src/index.ts"

test("in a turn that has lost its lease `addItems` rejects with `conflict`, and adds nothing", async () => {
  const location = createMemoryLocation()
  const open = () => createSessions({ storage: createMemoryStorage({ location }) })
  const [sessions, elsewhere] = [open(), open()]
  const log = await openAgentLog(sessions, "s")
  const session = createAgentSession({ sessions, sessionId: "s" })
  let refused: SessionError | undefined
  const turn = log.turn(
    async () => {
      const other = await openAgentLog(elsewhere, "s")
      await other.turn((inner) => inner.append({ type: "custom", customType: "theirs" }), { lease: { fence: 2 } })
      const item = { type: "message", role: "user", content: "late" }
      await session.addItems([item]).catch((error: unknown) => void (refused = error as SessionError))
    },
    { lease: { fence: 1 } },
  )
  await expect(turn).rejects.toMatchObject({ code: "conflict", leaseLost: true })
  expect(refused).toMatchObject({ code: "conflict", leaseLost: true })
  expect(await createAgentSession({ sessions: elsewhere, sessionId: "s" }).getItems()).toEqual([])
})
