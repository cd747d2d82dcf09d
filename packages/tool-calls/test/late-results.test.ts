/** What comes late for a call that another process has started again: its newest start says whose result counts. */
import { createMemoryLocation } from "@sessions/memory"
import type { ToolCallsOptions } from "@sessions/tool-calls"
import { describe, expect, test } from "vitest"
import {
  answer,
  call,
  codeOf,
  inTurn,
  type Process,
  question,
  soonRejected,
  startProcess,
  stored,
  toldOf,
} from "./world.ts"

const notDone: ToolCallsOptions["onUnknown"] = () => "not done"

/** A process whose call was stopped while its start was on the way. The start has arrived, and what is said of it has not. */
async function stopped() {
  const { calls, storage, session, location } = await inTurn([call("a")])
  const start = storage.hold("append")
  const stop = new AbortController()
  const run = calls.run(call("a"), () => expect.unreachable(), { signal: stop.signal })
  await expect.poll(() => holds(storage, '"tool_start"')).toBe(true)
  stop.abort(new Error("stop"))
  expect(await soonRejected(run)).toBe(stop.signal.reason)
  start()
  const release = storage.hold("append")
  await expect.poll(() => holds(storage, "was not run")).toBe(true)
  return { location, session, release }
}

const holds = (storage: Process["storage"], text: string): boolean =>
  storage.calls.some(({ operation, lines }) => operation === "append" && lines.some((line) => line.includes(text)))

const resultsIn = async ({ session }: Process): Promise<readonly unknown[]> =>
  (await stored(session, "message")).flatMap(({ id, message }) =>
    (message as { role: string }).role === "toolResult" ? [id] : [],
  )

/** Everything that a process has in flight has arrived, or was refused. */
async function settled({ session }: Pick<Process, "session">): Promise<void> {
  for (let n = 0; n < 50; n++) await new Promise((resolve) => void setTimeout(resolve, 0))
  await session.flush()
}

describe("of a call that was stopped before it began, and that another process has run since, it is not said that it was not run", () => {
  test("while it runs there", async () => {
    const { location, session, release } = await stopped()
    const next = await startProcess(location, { onUnknown: notDone })
    const [resumed] = await next.calls.resume({
      charge: async () => {
        release()
        await settled({ session })
        return "charged"
      },
    })
    expect(resumed?.outcome).toBe("ran")
    const reader = await startProcess(location)
    expect(await toldOf(reader.session)).toEqual({ a: "charged" })
    expect(await resultsIn(reader)).toEqual(["answer.0.result"])
  })

  test("when the conversation has gone on", async () => {
    const { location, session, release } = await stopped()
    const next = await startProcess(location, { onUnknown: notDone })
    await next.calls.resume({ charge: () => "charged" })
    await next.session.append([{ ...answer(call("a", "look")), id: "next" }])
    release()
    await settled({ session })
    const reader = await startProcess(location)
    expect(await resultsIn(reader)).toEqual(["answer.0.result"])
    expect(await toldOf(reader.session)).toEqual({
      a: "No result was recorded for this tool call. It may be called again.",
    })
  })
})

test("of a call that was started behind a message, and that another process has run since, it is not said that it was not run", async () => {
  const { calls, storage, session, location } = await inTurn([call("a")])
  const other = await startProcess(location, { onUnknown: notDone })
  let release = (): void => undefined
  storage.fail("append", "response lost")
  const start = storage.hold("append")
  const run = calls.run(call("a"), () => expect.unreachable())
  run.catch(() => undefined)
  await expect.poll(() => holds(storage, '"tool_start"')).toBe(true)
  const heads = storage.hold("head")
  start()
  await expect.poll(() => location.logs.get("s")?.lines.some((line) => line.includes('"tool_start"'))).toBe(true)
  await other.session.append(question("Wait."))
  release = storage.hold("append")
  heads()
  await expect.poll(() => holds(storage, "was not run")).toBe(true)
  await other.session.branch("answer")
  const [resumed] = await other.calls.resume({
    charge: async () => {
      release()
      await settled({ session })
      return "charged"
    },
  })
  expect(resumed?.outcome).toBe("ran")
  expect(await codeOf(run)).toBe("conflict")
  const reader = await startProcess(location)
  expect(await resultsIn(reader)).toEqual(["answer.0.result"])
  expect(await toldOf(reader.session)).toEqual({ a: "charged" })
})

test("a result of an attempt behind which the session knows another one is not added, and `run` says so with what it was", async () => {
  const { calls, session, location } = await inTurn([call("a")])
  const next = await startProcess(location, { onUnknown: notDone })
  let resumed: Promise<unknown> | undefined
  let [begin, end] = [(): void => undefined, (): void => undefined]
  const started = new Promise<void>((resolve) => (begin = resolve))
  const over = new Promise<void>((resolve) => (end = resolve))
  const first = calls.run(call("a"), async () => {
    await next.session.refresh()
    resumed = next.calls.resume({ charge: () => (begin(), over.then(() => "charged")) })
    await started
    await session.refresh()
    throw new Error("The bank did not answer.")
  })
  const refused: unknown = await first.catch((error: unknown) => error)
  end()
  await resumed
  expect(refused).toMatchObject({
    code: "conflict",
    message: expect.stringMatching(/^The call "a" of session s has run.*started the call again/),
    outcome: { error: { message: "The bank did not answer." } },
  })
  const reader = await startProcess(location)
  expect(await toldOf(reader.session)).toEqual({ a: "charged" })
})

test("a late result of a call that has one is not added a second time, wherever the conversation is", async () => {
  const location = createMemoryLocation()
  const { calls } = await inTurn([call("a")], location)
  const next = await startProcess(location, { onUnknown: () => ({ output: "found out" }) })
  const ran = await calls.run(call("a"), async () => {
    await next.session.refresh()
    await next.calls.resume({})
    await next.session.append([question("And now?"), next.calls.record])
    await next.session.append({ ...answer(call("a")), id: "next" })
    return "charged"
  })
  expect(ran).toMatchObject({ entryId: "answer.0.result", message: { content: [{ text: "found out" }] } })
  const reader = await startProcess(location)
  expect(await resultsIn(reader)).toEqual(["answer.0.result"])
  expect(await toldOf(reader.session)).toEqual({ a: "This tool call did not start. It may be called again." })
})
