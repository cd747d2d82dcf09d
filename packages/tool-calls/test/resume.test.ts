/** `resume`: what the next process does with the calls that have no result. */
import { createMemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { call, callsOf, codeOf, inTurn, question, soonRejected, startProcess, statesOf, toldOf } from "./world.ts"
import type { Execution } from "@sessions/tool-calls"
import { verifySession } from "@sessions/core/transfer"

/** A turn of which one call was started, and whose process has ended. */
async function crashed(blocks = [call("a"), call("b"), call("c", "look"), call("d", "unnamed")]) {
  const location = createMemoryLocation()
  const { calls } = await inTurn(blocks, location)
  const abort = new AbortController()
  await codeOf(
    calls.run(
      call("b"),
      () => {
        abort.abort(new Error("crash"))
        throw new Error("crash")
      },
      { signal: abort.signal },
    ),
  )
  return location
}

test("what did not start and what may be repeated runs, in order; of the rest the model is told", async () => {
  const next = await startProcess(await crashed())
  const ran: string[] = []
  const execute = ({ attempt }: Execution): string => `ran ${ran.push(String(attempt))}`
  const resumed = await next.calls.resume({ charge: execute, look: execute, unnamed: execute })
  expect(resumed.map(({ call: { callId, state }, outcome }) => [callId, state, outcome])).toEqual([
    ["a", "waiting", "ran"],
    ["b", "unknown", "left"],
    ["c", "repeatable", "ran"],
    ["d", "unrecorded", "left"],
  ])
  expect(ran).toEqual(["1", "1"])
  expect(await toldOf(next.session)).toMatchObject({
    a: "ran 1",
    b: expect.stringContaining("its outcome is unknown"),
    c: "ran 2",
    d: "No result was recorded for this tool call.",
  })
})

test("without an executor a call is left", async () => {
  const next = await startProcess(await crashed(), { onUnknown: () => "not done" })
  const resumed = await next.calls.resume({})
  expect(resumed.map(({ outcome }) => outcome)).toEqual(["left", "left", "left", "left"])
})

test("a call that was not done runs again with the same key, as the next attempt", async () => {
  const location = await crashed()
  const next = await startProcess(location, { onUnknown: () => "not done" })
  const before = (await callsOf(next.session))[1]
  const executions: Execution[] = []
  await next.calls.resume({ charge: (execution) => void executions.push(execution) })
  expect(executions.map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(executions[1]?.key).toBe(before?.key)
  expect((await callsOf(next.session))[1]).toMatchObject({ state: "done", attempt: 2, start: "answer.1.2" })
})

test("the outcome that is found out is the result, once", async () => {
  const location = await crashed()
  const onUnknown = async ({ key }: { key?: string }) => ({ output: `charged under ${key}` })
  const [one, two] = [await startProcess(location, { onUnknown }), await startProcess(location, { onUnknown })]
  await Promise.all([one.calls.resume({}), two.calls.resume({})])
  const next = await startProcess(location)
  const results: unknown[] = []
  for await (const entry of next.session.entries())
    if (entry.type === "message" && (entry.message as { role: string }).role === "toolResult") results.push(entry.id)
  expect(results).toEqual(["answer.1.result"])
  expect((await toldOf(next.session))["b"]).toMatch(/^charged under [0-9a-f]{32}$/)
})

test("of several processes that find a call not done, one runs it", async () => {
  const location = await crashed()
  const processes = await Promise.all([1, 2, 3].map(() => startProcess(location, { onUnknown: () => "not done" })))
  const ran: string[] = []
  await Promise.all(
    processes.map(({ calls }) => calls.resume({ charge: ({ key, attempt }) => void ran.push(`${key} ${attempt}`) })),
  )
  expect(ran.length).toBe(2)
  expect(new Set(ran).size).toBe(2)
})

test("an answer to a start that is no longer the newest does not count", async () => {
  const location = await crashed()
  const other = await startProcess(location, { onUnknown: () => "not done" })
  let ran = 0
  const next = await startProcess(location, {
    onUnknown: async () => {
      await other.calls.resume({
        charge: () => {
          ran++
          return "charged"
        },
      })
      await next.session.refresh()
      return { output: "it never happened" }
    },
  })
  const resumed = await next.calls.resume({})
  expect(resumed[1]?.outcome).toBe("done")
  expect((await toldOf(next.session))["b"]).toBe("charged")
  expect(ran).toBe(2)
})

test("an answer that is on its way when another process starts the call again does not count", async () => {
  const location = await crashed([call("b")])
  const other = await startProcess(location, { onUnknown: () => "not done" })
  const next = await startProcess(location, { onUnknown: () => ({ output: "it never happened", isError: true }) })
  const release = next.storage.hold("append")
  const settling = next.calls.resume({})
  await expect.poll(() => next.storage.calls.some(({ operation }) => operation === "append")).toBe(true)
  let outcomes: readonly string[] = []
  await other.calls.resume({
    charge: async () => {
      release()
      outcomes = (await settling).map(({ outcome }) => outcome)
      return "charged"
    },
  })
  expect(outcomes).toEqual(["held"])
  const reader = await startProcess(location)
  expect((await toldOf(reader.session))["b"]).toBe("charged")
})

test("an answer that is none, as by a slip, settles nothing", async () => {
  const location = await crashed([call("b")])
  for (const wrong of ["notDone", null, {}, { result: "charged" }, { output: "charged", isError: "no" }]) {
    const next = await startProcess(location, { onUnknown: () => wrong as never })
    expect(await codeOf(next.calls.resume({ charge: () => expect.unreachable() }))).toBe("invalid")
    expect(await statesOf(next.session)).toEqual(["b unknown"])
  }
})

test("the signal ends the wait for an `onUnknown` that does not look at it", async () => {
  const stop = new AbortController()
  const next = await startProcess(await crashed([call("b")]), {
    onUnknown: () => {
      stop.abort(new Error("stop"))
      return new Promise(() => undefined)
    },
  })
  expect(await soonRejected(next.calls.resume({}, { signal: stop.signal }))).toBe(stop.signal.reason)
  expect(await statesOf(next.session)).toEqual(["b unknown"])
})

test("nothing starts behind a conversation that has gone on; what is found out is added to it", async () => {
  const location = await crashed()
  const next = await startProcess(location, { onUnknown: () => ({ output: "charged" }) })
  await next.session.append(question("Never mind."))
  const resumed = await next.calls.resume({ charge: () => "wrong" })
  expect(resumed.map(({ outcome }) => outcome)).toEqual(["held", "settled", "left", "left"])
  expect(await statesOf(next.session)).toEqual(["a waiting", "b done", "c repeatable", "d unrecorded"])
})

test("a session without calls has nothing to resume", async () => {
  const { calls, session } = await startProcess()
  expect(await calls.resume({})).toEqual([])
  await session.append(question())
  expect(await calls.resume({})).toEqual([])
})

test("`verify` names the results that another run than the one that started the call has given", async () => {
  const location = await crashed()
  const next = await startProcess(location, { onUnknown: () => ({ output: "charged" }) })
  await next.calls.resume({ charge: () => "charged", look: () => "seen" })
  const { diagnostics, damaged } = await verifySession(next.sessions, "s")
  expect(diagnostics).toMatchObject([{ code: "foreign_result", entryId: "answer.1.result" }])
  expect(damaged).toBe(false)
})
