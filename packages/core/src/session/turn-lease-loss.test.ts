/** What a lost or given up lease leaves: for its own turn, for other writers of its process, and for the turns behind it. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { docsOf, documentOf, passing, pause, process, processes, within } from "../../test/leased-processes.ts"
import { assistant, codeOf, contextTexts, user } from "../../test/writers.ts"
import { encodeTurn } from "../format/turn-document.ts"
import { createSessions } from "./repository.ts"

const LEASE = 3_000

// Loading code takes real time.
beforeAll(() => Promise.all([import("./features/seldom.ts"), import("./features/context.ts")]))
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.restoreAllMocks().useRealTimers())

test("a turn that has lost its lease refuses its own appends, and no others of its process", async () => {
  const { one, two, sessionsOne } = await processes()
  const aside = await sessionsOne.open("s")
  let end = (): void => undefined
  const turn = one.turn(
    async (inner) => {
      await inner.append(user("a"))
      await new Promise<void>((resolve) => (end = resolve))
      await inner.append(assistant("to a"))
    },
    { lease: { fence: 1 } },
  )
  const refused = codeOf(turn)
  await vi.advanceTimersByTimeAsync(100)
  await two.turn(() => undefined, { lease: { fence: 2 } })
  await aside.title("renamed")
  await aside.append(user("beside it"), { onConflict: "rebase" })
  end()
  expect(await passing(refused)).toBe("conflict")
  expect(await contextTexts(aside)).toEqual(["a", "beside it"])
})

test("the append that finds the fence of another turn has `leaseLost`, like all behind it", async () => {
  const { one, two } = await processes()
  const seen: unknown[] = []
  const turn = one.turn(
    async (inner) => {
      await inner.append(user("a"))
      await two.turn(() => undefined, { lease: { fence: 2 } })
      for (const text of ["b", "c"]) await inner.append(assistant(text)).catch((error: unknown) => seen.push(error))
    },
    { lease: { fence: 1 } },
  )
  await expect(passing(turn)).rejects.toMatchObject({ code: "conflict", leaseLost: true })
  expect(seen).toMatchObject([{ leaseLost: true }, { leaseLost: true }])
})

test("what is appended through the handle of a turn that has ended is of no turn, also while another one runs", async () => {
  const { one, two } = await processes()
  const first = await one.turn((inner) => ({ inner }), { lease: { fence: 1 } })
  const turn = one.turn(
    async (inner) => {
      await inner.append(user("b"))
      await two.turn(() => undefined, { lease: { fence: 3 } })
      await one.refresh()
      expect(await codeOf(inner.append(assistant("refused")))).toBe("conflict")
      await first.inner.title("kept")
    },
    { lease: { fence: 2 } },
  )
  expect(await passing(codeOf(turn))).toBe("conflict")
  expect((await one.info()).title).toBe("kept")
})

test("a lost lease is given back at the end of its turn, if nobody has taken it", async () => {
  const { location, one, two, storageOne } = await processes()
  const docs = docsOf(storageOne)
  const turn = one.turn(
    async () => {
      docs.fail = () => new Error("Nobody answers.")
      await pause(2 * LEASE)
      docs.fail = undefined
    },
    { lease: LEASE },
  )
  await passing(turn)
  await vi.advanceTimersByTimeAsync(100)
  expect(await documentOf(location)).toEqual({ v: 1, fence: 1 })
  expect(await two.turn(() => "runs", { lease: LEASE, busy: "reject" })).toBe("runs")
})

test("a signal ends the wait for a lease whose request stays open, and the lease is given back when it arrives", async () => {
  const { location, one, storageOne } = await processes()
  const docs = docsOf(storageOne)
  const controller = new AbortController()
  docs.stopPuts()
  const turn = codeOf(one.turn(() => expect.unreachable(), { lease: LEASE, signal: controller.signal }))
  await vi.advanceTimersByTimeAsync(100)
  controller.abort()
  expect(await within(100, turn)).toBe("aborted")
  docs.go()
  await vi.advanceTimersByTimeAsync(100)
  expect(await documentOf(location)).toEqual({ v: 1, fence: 1 })
})

test("a turn that has lost its lease ends, also if an append of it stays open for ever", async () => {
  const { one, two, storageOne } = await processes()
  const turn = one.turn(
    async (inner) => {
      storageOne.hold("append")
      void inner.append(user("a")).catch(() => undefined)
      docsOf(storageOne).stop()
      await pause(2 * LEASE)
    },
    { lease: LEASE },
  )
  expect(await within(4 * LEASE, codeOf(turn))).toBe("conflict")
  await passing(two.turn((inner) => inner.append(user("b")), { lease: LEASE }))
})

test("a turn whose handle was closed while it waited does not begin", async () => {
  const { one, two } = await processes()
  let end = (): void => undefined
  const first = two.turn(() => new Promise<void>((resolve) => (end = resolve)), { lease: LEASE })
  await vi.advanceTimersByTimeAsync(100)
  const turn = codeOf(one.turn(() => expect.unreachable(), { lease: LEASE }))
  await one.close()
  end()
  await passing(first)
  expect(await passing(turn)).toBe("closed")
})

test("a fence counts however far back it is, also if no later one is as high", async () => {
  const location = createMemoryLocation()
  const first = createSessions({ storage: createMemoryStorage({ location }) })
  const session = await first.create({ id: "s" })
  await session.turn(() => undefined, { lease: { fence: 50 } })
  await session.append({ type: "fence", fence: 3 })
  for (let n = 0; n < 12; n++) await session.append(user("x".repeat(40_000)))
  await first.close()
  const { sessions } = process(location)
  const opened = await sessions.open("s")
  const late = opened.turn(() => expect.unreachable(), { lease: { fence: 50 } })
  await expect(passing(late)).rejects.toMatchObject({ code: "conflict", fence: 50 })
  expect(await passing(opened.turn((_, { fence }) => fence, { lease: LEASE }))).toBe(51)
  expect(await codeOf(opened.turn(() => undefined, { lease: { fence: Number.MAX_SAFE_INTEGER } }))).toBe("invalid")
})

test.each(["turn", "prompts"])(
  "a call runs as long as the lease of its turn, whichever document has its number: %s",
  async (held) => {
    const { location, one } = await processes()
    await one.append({
      type: "message",
      id: "a",
      message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "charge", arguments: {} }] },
    })
    await one.append({
      type: "tool_start",
      id: "a.0.1",
      targetId: "a",
      callId: "c",
      call: 0,
      toolName: "charge",
      attempt: 1,
      key: "k",
      run: "r",
      fence: 1,
    })
    const { docs } = createMemoryStorage({ location })
    const stateOf = async (): Promise<unknown> => (await one.callStates())?.calls[0]?.state
    const write = async (document: string, count: number): Promise<void> => {
      const key = `sessions/s/${document}`
      const text = encodeTurn({ fence: 1, held: { by: document, lease: LEASE, count } })
      await docs.put(key, text, { expect: (await docs.get(key))?.version ?? null })
    }
    for (const document of ["turn", "prompts"]) await write(document, 0)
    expect(await stateOf()).toBe("running")
    for (let count = 1; count < 5; count++) {
      await vi.advanceTimersByTimeAsync(LEASE / 2)
      await write(held, count)
      expect(await stateOf()).toBe("running")
    }
    // The other document may be looked at only now.
    await vi.advanceTimersByTimeAsync(LEASE)
    await stateOf()
    await vi.advanceTimersByTimeAsync(LEASE)
    expect(await stateOf()).toBe("unknown")
  },
)
