import { expect, test } from "vitest"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  storedIds,
  twoWriters,
  user,
} from "../../test/writers.ts"

test("a turn whose first append meets another writer's turn runs again on the new leaf, and nothing of it is written", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await two.append([user("two", "b1"), assistant("two", "b2")])
  const seen: unknown[] = []
  const result = await one.turn(async (session, { attempt }) => {
    seen.push([attempt, await contextTexts(session)])
    await session.append(user(`one, attempt ${attempt}`))
    await session.append(assistant("answer"))
    return "done"
  })
  expect(result).toBe("done")
  expect(seen).toEqual([
    [0, ["start"]],
    [1, ["start", "two", "two"]],
  ])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two", "two", "one, attempt 1", "answer"])
})

test("a turn that starts over writes nothing before that, even if it swallows the error", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await two.append(user("two", "b"))
  await one.turn(async (session, { attempt }) => {
    await session.append(user(`first ${attempt}`)).catch(() => undefined)
    await session.append(assistant(`second ${attempt}`)).catch(() => undefined)
  })
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two", "first 1", "second 1"])
})

test("a turn starts over three times, then fails with `conflict`", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const attempts: number[] = []
  const turn = one.turn(async (session, { attempt }) => {
    attempts.push(attempt)
    await two.append(user(`two ${attempt}`, `b${attempt}`))
    await session.append(user("one"))
  })
  expect(await codeOf(turn)).toBe("conflict")
  expect(attempts).toEqual([0, 1, 2, 3])
  expect(await storedIds(location)).toEqual(["0", "b0", "b1", "b2", "b3"])
  await one.append(user("one", "a"))
  expect(await contextTexts(one)).toEqual(["start", "two 0", "two 1", "two 2", "two 3", "one"])
})

test("a conflict later in a turn keeps both turns as two branches", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const attempts: number[] = []
  const later = await one.turn(async (session, { attempt }) => {
    attempts.push(attempt)
    await session.append(user("one", "a1"))
    await two.append(user("two", "b1"))
    return session.append(assistant("one", "a2"))
  })
  expect(attempts).toEqual([0])
  expect(later.diverged).toMatchObject({ leaf: "a2", otherLeaf: "b1", tips: [{ id: "b1" }] })
  expect(await contextTexts(one)).toEqual(["start", "one", "one"])
  expect(await storedIds(location)).toHaveLength(4)
})

test("a partly written turn has no other writer's messages between its own", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await one.turn(async (session) => {
    await session.append(user("one", "a1"))
    await (await reopened(location)).append(assistant("another's answer", "x"))
    await session.append({ type: "usage", kind: "chat", usage: { input: 1 } })
    expect(await contextTexts(session)).toEqual(["start", "one"])
    await session.append(assistant("own answer", "a2"))
  })
  expect(await contextTexts(one)).toEqual(["start", "one", "own answer"])
  expect((await storedEntries(location)).find(({ id }) => id === "a2")?.parentId).toBe("a1")
  await two.close()
})

test("a turn also starts over if one of its annotations was the first to meet another writer's turn", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const attempts: number[] = []
  await one.turn(async (session, { attempt }) => {
    attempts.push(attempt)
    if (attempt === 0) await two.append(user("two", "b"))
    await session.append(note(`counted ${attempt}`))
    await session.append(user("one"))
  })
  expect(attempts).toEqual([0, 1])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two", "one"])
})

test("an append that failed for another reason does not count as the turn's first: the next one may still start it over", async () => {
  const { location, one, two, writerOne } = await twoWriters({}, [user("start", "0")])
  const attempts: number[] = []
  const codes: unknown[] = []
  await one.turn(async (session, { attempt }) => {
    attempts.push(attempt)
    if (attempt === 0) {
      writerOne.storage.fail("append", "quota")
      codes.push(await codeOf(session.append(user("too much"))))
      await two.append(user("two", "b"))
    }
    await session.append(user("one"))
  })
  expect(codes).toEqual(["quota"])
  expect(attempts).toEqual([0, 1])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two", "one"])
})

test("with `onConflict: fail` inside a turn, the append fails and the turn continues", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await two.append(user("two", "b"))
  const attempts: number[] = []
  await one.turn(async (session, { attempt }) => {
    attempts.push(attempt)
    expect(await codeOf(session.append(user("one"), { onConflict: "fail" }))).toBe("conflict")
    await session.append(user("one"))
  })
  expect(attempts).toEqual([0])
  expect(await contextTexts(one)).toEqual(["start", "two", "one"])
})

test("appends that a turn does not await belong to it", async () => {
  const { location, one, two } = await twoWriters({ hooks: { append: async () => undefined } }, [user("start", "0")])
  await two.append(user("two", "b"))
  const attempts: number[] = []
  await one.turn((session, { attempt }) => {
    attempts.push(attempt)
    session.append(user("one")).catch(() => undefined)
  })
  expect(attempts).toEqual([0, 1])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two", "one"])
})

test("a second turn waits for the first, on any handle", async () => {
  const { sessions } = createWriter()
  const one = await sessions.create({ id: "s" })
  const two = await sessions.open("s")
  const order: string[] = []
  const turn = (session: typeof one, name: string): Promise<void> =>
    session.turn(async (inner) => {
      order.push(`${name} begins`)
      await inner.append(user(name))
      await new Promise((resolve) => setImmediate(resolve))
      await inner.append(assistant(name))
      order.push(`${name} ends`)
    })
  await Promise.all([turn(one, "a"), turn(two, "b"), turn(one, "c")])
  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
  expect(await contextTexts(one)).toEqual(["a", "a", "b", "b", "c", "c"])
})

test("a failing turn lets the next one run", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  const failing = session.turn(async () => {
    throw new RangeError("the model is out of office")
  })
  const next = session.turn(() => "next")
  await expect(failing).rejects.toThrow("out of office")
  expect(await next).toBe("next")
})

test("a turn inside a turn is `invalid`, not a deadlock: at once, after awaits, and on the handle that the turn got", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  const codes = await session.turn(async (inner) => {
    const atOnce = await codeOf(session.turn(() => undefined))
    await new Promise((resolve) => setImmediate(resolve))
    const afterAwaits = await codeOf(session.turn(() => undefined))
    const byHandle = await codeOf(inner.turn(() => undefined))
    const byOther = await codeOf((await sessions.open("s")).turn(() => undefined))
    return [atOnce, afterAwaits, byHandle, byOther]
  })
  expect(codes).toEqual(["invalid", "invalid", "invalid", "invalid"])
})

test("code that a turn left running may start a turn after that turn has ended", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  let start = (): void => undefined
  const later = new Promise<string>((resolve, reject) => {
    void session.turn(async () => {
      const begun = new Promise<void>((begin) => (start = begin))
      void begun.then(() => session.turn(() => "later")).then(resolve, reject)
    })
  })
  await session.turn(() => undefined)
  start()
  expect(await later).toBe("later")
})

test("turns of two sessions may be nested", async () => {
  const { sessions } = createWriter()
  const parent = await sessions.create({ id: "parent" })
  const child = await sessions.create({ id: "child" })
  const answer = await parent.turn(() => child.turn(async (inner) => (await inner.append(user("sub"))).ids.length))
  expect(answer).toBe(1)
})

test("a signal ends the wait for a turn, and no other turn starts before the running one ends", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  let end = (): void => undefined
  const order: string[] = []
  const first = session.turn(async () => {
    await new Promise<void>((resolve) => (end = resolve))
    order.push("first ended")
  })
  const controller = new AbortController()
  const second = codeOf(session.turn(() => order.push("second"), { signal: controller.signal }))
  const third = session.turn(() => order.push("third"))
  controller.abort()
  expect(await second).toBe("aborted")
  expect(order).toEqual([])
  end()
  await Promise.all([first, third])
  expect(order).toEqual(["first ended", "third"])
})

test("a turn whose signal is aborted does not start over", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  const controller = new AbortController()
  const attempts: number[] = []
  const turn = one.turn(
    async (session, { attempt }) => {
      attempts.push(attempt)
      await two.append(user(`two ${attempt}`))
      controller.abort()
      await session.append(user("one"))
    },
    { signal: controller.signal },
  )
  expect(await codeOf(turn)).toBe("aborted")
  expect(attempts).toEqual([0])
})

test("of two concurrent turns in two processes, one runs again after the other", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  const run = (session: typeof one, name: string): Promise<number> =>
    session.turn(async (inner, { attempt }) => {
      await inner.append([user(name), assistant(name)])
      return attempt
    })
  const attempts = await Promise.all([run(one, "one"), run(two, "two")])
  expect(attempts).toEqual([0, 1])
  const opened = await reopened(location)
  expect((await contextTexts(opened)).slice(1).toSorted()).toEqual(["one", "one", "two", "two"])
  expect(opened.diagnostics).toEqual([])
})
