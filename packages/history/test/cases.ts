/** What every history does, wherever it keeps its prompts. */
import type { HistoryOptions, PromptHistory } from "@sessions/history"
import { describe, expect, onTestFinished, test, vi } from "vitest"

/** Registers the cases. Two calls of `open` with the same location open the same history. */
export function historyCases(
  name: string,
  newLocation: () => string,
  open: (location: string, o: HistoryOptions) => PromptHistory,
): void {
  describe(`a history in ${name}`, () => {
    function opened(o: HistoryOptions = {}, location = newLocation()): PromptHistory {
      const history = open(location, o)
      onTestFinished(() => history.close())
      return history
    }

    test("an added prompt is stored after the tick, with its time and folder", async () => {
      const history = opened()
      const from = Math.floor(Date.now() / 1000) * 1000
      history.add("fix the tests", { cwd: "/a" })
      history.add("add a test")
      const [second, first, ...more] = await history.recent()
      expect(more).toEqual([])
      expect(first).toEqual({ id: first?.id, prompt: "fix the tests", at: first?.at, cwd: "/a" })
      expect(second).toEqual({ id: second?.id, prompt: "add a test", at: second?.at })
      expect(second?.id).toBeGreaterThan(first?.id as number)
      expect(Date.parse(first?.at as string)).toBeGreaterThanOrEqual(from)
      expect(Date.parse(second?.at as string)).toBeLessThanOrEqual(Date.now())
    })

    test("adding returns before anything is done: redaction runs in a later task", async () => {
      const redact = vi.fn<(prompt: string) => string>((prompt) => prompt)
      const history = opened({ redact })
      history.add("one")
      await Promise.resolve()
      expect(redact).not.toHaveBeenCalled()
      await history.flush()
      expect(redact).toHaveBeenCalledWith("one")
    })

    test("a prompt is trimmed, NUL is removed, and other text is kept as it is", async () => {
      const history = opened()
      const kept = 'two\nlines\t"quoted" é 日本 🤖 \u001b[2J'
      for (const prompt of [`\n ${kept} \n`, "be\0fore", "\ud800 lone"]) history.add(prompt)
      expect(await prompts(history.recent())).toEqual(["\ufffd lone", "before", kept])
    })

    test("an empty prompt and one that begins with a space are not stored", async () => {
      const history = opened()
      for (const prompt of ["", "\n\t", " secret", "\0", "kept"]) history.add(prompt)
      expect(await prompts(history.recent())).toEqual(["kept"])
    })

    test("a prompt that is equal to the last stored one is not stored again", async () => {
      const location = newLocation()
      const first = opened({}, location)
      for (const prompt of ["a", "a", "b", "a ", "a"]) first.add(prompt)
      await first.flush()
      first.add("a")
      expect(await prompts(first.recent())).toEqual(["a", "b", "a"])
    })

    test("a redacted prompt is stored in its new form, and not at all if it is empty or the redaction throws", async () => {
      const onError = vi.fn<(error: unknown) => void>()
      const history = opened({
        onError,
        redact(prompt) {
          if (prompt === "bad") throw new Error("cannot")
          return prompt.replace(/sk-\w+/, "")
        },
      })
      for (const prompt of ["use sk-123", "sk-456", "bad", "kept"]) history.add(prompt)
      expect(await prompts(history.recent())).toEqual(["kept", "use"])
      expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message: "cannot" }))
    })

    test("`recent` has a limit, of one folder, and continues before an id", async () => {
      const history = opened()
      for (let n = 0; n < 10; n++) history.add(`prompt ${n}`, { cwd: n % 2 === 0 ? "/even" : "/odd" })
      const page = await history.recent({ limit: 3 })
      expect(page.map(({ prompt }) => prompt)).toEqual(["prompt 9", "prompt 8", "prompt 7"])
      const before = page.at(-1)?.id as number
      expect(await prompts(history.recent({ limit: 2, before }))).toEqual(["prompt 6", "prompt 5"])
      expect(await prompts(history.recent({ limit: 2, before, cwd: "/even" }))).toEqual(["prompt 6", "prompt 4"])
      expect(await prompts(history.recent({ cwd: "/even" }))).toHaveLength(5)
      expect(await prompts(history.recent({ limit: 1, cwd: "/odd" }))).toEqual(["prompt 9"])
      expect(await prompts(history.recent({ cwd: "/EVEN" }))).toEqual([])
      await history.delete(before)
      expect(await prompts(history.recent({ limit: 1, before }))).toEqual(["prompt 6"])
    })

    test("limits are 100 by default and at most 1,000", async () => {
      const history = opened()
      for (let n = 0; n < 1005; n++) history.add(`prompt ${n}`)
      expect(await history.recent()).toHaveLength(100)
      expect(await history.recent({ limit: 5000 })).toHaveLength(1000)
      expect(await history.search("prompt")).toHaveLength(100)
      expect(await history.search("prompt", { limit: Number.MAX_SAFE_INTEGER })).toHaveLength(1000)
      expect(await prompts(history.search("prompt", { limit: 2 }))).toEqual(["prompt 1004", "prompt 1003"])
      expect(await prompts(history.search("prompt 7"))).toHaveLength(100)
      expect(await prompts(history.search("77"))).toEqual(["prompt 779", ...range(778, 770), "prompt 77"])
    })

    test("a search finds the prompts that have words beginning with all words of it, newest first", async () => {
      const history = opened()
      for (const prompt of ["fix the tests", "run tests", "fix testing", "fixture", "prefix tests"]) history.add(prompt)
      expect(await prompts(history.search("fix test"))).toEqual(["fix testing", "fix the tests"])
      expect(await prompts(history.search("test fix"))).toEqual(["fix testing", "fix the tests"])
      expect(await prompts(history.search("fix"))).toEqual(["fixture", "fix testing", "fix the tests"])
      expect(await prompts(history.search("fix fix"))).toEqual(["fixture", "fix testing", "fix the tests"])
      expect(await prompts(history.search("ests"))).toEqual([])
    })

    test("a search is of one folder if it names one", async () => {
      const history = opened()
      for (const cwd of ["/a", "/b", "/a"]) history.add(`fix ${cwd} ${Math.random()}`, { cwd })
      history.add("fix no folder")
      expect(await history.search("fix", { cwd: "/a" })).toHaveLength(2)
      expect(await history.search("fix", { cwd: "/a", limit: 1 })).toHaveLength(1)
      expect(await history.search("fix", { cwd: "/" })).toEqual([])
      expect(await history.search("fix")).toHaveLength(4)
    })

    test("operators, quotes and other signs in a search are text", async () => {
      const history = opened()
      for (const prompt of [
        "a AND b",
        "NOT this",
        'say "hello world"',
        "prompt: x",
        "x* y^2",
        "near(a b, 3)",
        "100%_done",
      ])
        history.add(prompt)
      const found: Readonly<Record<string, readonly string[]>> = {
        "a AND b": ["a AND b"],
        "AND NOT": [],
        "NOT this": ["NOT this"],
        NEAR: ["near(a b, 3)"],
        "NEAR(a b, 3)": ["near(a b, 3)"],
        '"hello world"': ['say "hello world"'],
        '"hello': ['say "hello world"'],
        "prompt:": ["prompt: x"],
        "prompt : x": ["prompt: x"],
        "x*": ["x* y^2", "prompt: x"],
        "^y + (2)": ["x* y^2"],
        "-this": ["NOT this"],
        "{prompt} : this": [],
        "100%": ["100%_done"],
        "%": ["100%_done", "near(a b, 3)", "x* y^2", "prompt: x", 'say "hello world"', "NOT this", "a AND b"],
        "'; DROP TABLE history; --": [],
        "\\": ["100%_done", "near(a b, 3)", "x* y^2", "prompt: x", 'say "hello world"', "NOT this", "a AND b"],
      }
      for (const [text, expected] of Object.entries(found)) {
        expect({ text, found: await prompts(history.search(text)) }).toEqual({ text, found: expected })
      }
    })

    test("a word with signs inside matches its parts one directly after the other", async () => {
      const history = opened()
      for (const prompt of ["open src/app.ts", "open app and ts", "open src / app.tsx", "foo_bar"]) history.add(prompt)
      expect(await prompts(history.search("app.ts"))).toEqual(["open src / app.tsx", "open src/app.ts"])
      expect(await prompts(history.search("src/app.ts open"))).toEqual(["open src / app.tsx", "open src/app.ts"])
      expect(await prompts(history.search("bar"))).toEqual(["foo_bar"])
    })

    test("NUL in a search is removed, and a word without letter or digit counts as none", async () => {
      const history = opened()
      for (const prompt of ["fix it", "run it"]) history.add(prompt)
      expect(await prompts(history.search("f\0ix"))).toEqual(["fix it"])
      expect(await prompts(history.search("\0"))).toEqual(["run it", "fix it"])
      expect(await prompts(history.search("fix -- !! 🤖"))).toEqual(["fix it"])
      for (const text of ["", "  ", '"', "***", "🤖", "…"]) {
        expect({ text, found: await prompts(history.search(text)) }).toEqual({ text, found: ["run it", "fix it"] })
      }
      expect(await prompts(history.search("!", { limit: 1 }))).toEqual(["run it"])
    })

    test("case and diacritics do not matter; Chinese and Japanese match from the start of a run", async () => {
      const history = opened()
      const texts = [
        "Über das CAFÉ",
        "cafe\u0301 noir",
        "ΛΌΓΟΣ",
        "テストを修正",
        "请修复 测试",
        "привет Ёж",
        "mañana 2nd",
        "🤔why not",
      ]
      for (const prompt of texts) history.add(prompt)
      const found: Readonly<Record<string, readonly string[]>> = {
        cafe: ["cafe\u0301 noir", "Über das CAFÉ"],
        CAFÉ: ["cafe\u0301 noir", "Über das CAFÉ"],
        uber: ["Über das CAFÉ"],
        λόγος: ["ΛΌΓΟΣ"],
        テスト: ["テストを修正"],
        修正: [],
        测: ["请修复 测试"],
        修复: [],
        ПРИВ: ["привет Ёж"],
        ёж: ["привет Ёж"],
        manana: ["mañana 2nd"],
        "2": ["mañana 2nd"],
        why: ["🤔why not"],
      }
      for (const [text, expected] of Object.entries(found)) {
        expect({ text, found: await prompts(history.search(text)) }).toEqual({ text, found: expected })
      }
    })

    test("very long prompts and searches are answered", async () => {
      const history = opened()
      const long = Array.from({ length: 2_000 }, (_, n) => `w${n}`).join(" ")
      history.add(long)
      history.add("short")
      expect(await prompts(history.search("w1999"))).toEqual([long])
      expect(await prompts(history.search(long))).toEqual([long])
      expect(await prompts(history.search(long.replaceAll(" ", ".")))).toEqual([long])
      expect(await prompts(history.search(`${long} other`))).toEqual([])
      expect(await prompts(history.search("x".repeat(100_000)))).toEqual([])
    })

    test("a deleted prompt is gone from everything, and its id is never used again", async () => {
      const history = opened()
      for (const prompt of ["one", "two", "three"]) history.add(prompt)
      const [last] = await history.search("three")
      expect(await history.delete(last?.id as number)).toBe(true)
      expect(await history.delete(last?.id as number)).toBe(false)
      expect(await prompts(history.recent())).toEqual(["two", "one"])
      expect(await prompts(history.search("three"))).toEqual([])
      history.add("three")
      const [again] = await history.recent()
      expect(again).toMatchObject({ prompt: "three" })
      expect(again?.id).toBeGreaterThan(last?.id as number)
    })

    test("`clear` deletes everything, and the history goes on", async () => {
      const history = opened()
      for (const prompt of ["one", "two", "three"]) history.add(prompt)
      const [last] = await history.recent()
      expect(await history.clear()).toBe(3)
      expect(await history.recent()).toEqual([])
      expect(await history.search("one")).toEqual([])
      expect(await history.clear()).toBe(0)
      history.add("three")
      const [after] = await history.search("three")
      expect(after?.id).toBeGreaterThan(last?.id as number)
    })

    test("`clear` with a time deletes what was added before it", async () => {
      const history = opened()
      onTestFinished(() => void vi.restoreAllMocks())
      const now = vi.spyOn(Date, "now")
      for (let day = 1; day <= 3; day++) {
        now.mockReturnValue(Date.UTC(2026, 0, day))
        for (let n = 0; n < 300; n++) history.add(`day ${day} ${n}`)
      }
      now.mockRestore()
      expect(await history.clear({ olderThan: new Date(Date.UTC(2026, 0, 1)) })).toBe(0)
      expect(await history.clear({ olderThan: new Date(Date.UTC(2026, 0, 3)) })).toBe(600)
      const left = await history.recent({ limit: 1000 })
      expect(left).toHaveLength(300)
      expect(new Set(left.map(({ at }) => at))).toEqual(new Set(["2026-01-03T00:00:00.000Z"]))
      expect(await history.search("day.1", { limit: 1000 })).toEqual([])
      expect(await history.search("day.3", { limit: 1000 })).toHaveLength(300)
    })

    test("calls see the adds and deletions before them, in order", async () => {
      const history = opened()
      history.add("one")
      const one = history.recent()
      const clearing = history.clear()
      history.add("two")
      expect(await prompts(history.recent())).toEqual(["two"])
      expect(await prompts(one)).toSatisfy((found: string[]) => found.every((prompt) => prompt !== "two"))
      expect(await clearing).toBe(1)
    })

    test("wrong arguments are `invalid`; `add` reports them and throws nothing", async () => {
      const onError = vi.fn<(error: unknown) => void>()
      const history = opened({ onError })
      const invalid = { code: "invalid" }
      for (const limit of [0, -1, 1.5, Number.NaN, "5"]) {
        await expect(history.recent({ limit } as never)).rejects.toMatchObject(invalid)
        await expect(history.search("a", { limit } as never)).rejects.toMatchObject(invalid)
      }
      await expect(history.recent({ cwd: 5 } as never)).rejects.toMatchObject(invalid)
      await expect(history.recent({ before: "x" } as never)).rejects.toMatchObject(invalid)
      await expect(history.recent({ limt: 5 } as never)).rejects.toMatchObject({
        ...invalid,
        message: expect.stringContaining('Did you mean "limit"?') as string,
      })
      await expect(history.search(5 as never)).rejects.toMatchObject(invalid)
      await expect(history.search("a", { before: 5 } as never)).rejects.toMatchObject(invalid)
      await expect(history.delete("1" as never)).rejects.toMatchObject(invalid)
      await expect(history.clear({ olderThan: new Date(Number.NaN) })).rejects.toMatchObject(invalid)
      await expect(history.clear({ olderThan: 5 } as never)).rejects.toMatchObject(invalid)
      history.add(5 as never)
      history.add("a", { cwd: 5 } as never)
      history.add("a", { cdw: "/" } as never)
      expect(onError).toHaveBeenCalledTimes(3)
      for (const [error] of onError.mock.calls) expect(error).toMatchObject(invalid)
      expect(await history.recent()).toEqual([])
    })

    test("without `onError` the first failure of an add is thrown by the next flush, once", async () => {
      const history = open(newLocation(), { redact: () => 5 as never })
      history.add("one")
      history.add("two")
      await expect(history.flush()).rejects.toMatchObject({ code: "invalid" })
      await history.flush()
      history.add("three")
      await expect(history.close()).rejects.toMatchObject({ code: "invalid" })
    })

    test("what `onError` throws is ignored", async () => {
      const history = opened({
        redact: (prompt) => (prompt === "bad" ? (5 as never) : prompt),
        onError() {
          throw new Error("of the handler")
        },
      })
      history.add("bad")
      history.add("good")
      await history.flush()
      expect(await prompts(history.recent())).toEqual(["good"])
    })

    test("`close` stores what was added, and calls after it are `closed`", async () => {
      const onError = vi.fn<(error: unknown) => void>()
      const location = newLocation()
      const history = open(location, { onError })
      history.add("one")
      await Promise.all([history.close(), history.close()])
      history.add("two")
      expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "closed" }))
      const closed = { code: "closed" }
      await expect(history.recent()).rejects.toMatchObject(closed)
      await expect(history.search("a")).rejects.toMatchObject(closed)
      await expect(history.delete(1)).rejects.toMatchObject(closed)
      await expect(history.clear()).rejects.toMatchObject(closed)
      await expect(history.flush()).rejects.toMatchObject(closed)
      await history[Symbol.asyncDispose]()
    })
  })
}

/** Cases of histories that outlive the object. */
export function storedHistoryCases(
  name: string,
  newLocation: () => string,
  open: (location: string, o: HistoryOptions) => PromptHistory,
): void {
  describe(`a history in ${name}`, () => {
    test("a history that is opened again has its prompts, and knows the last one", async () => {
      const location = newLocation()
      const first = open(location, {})
      for (const prompt of ["one", "two"]) first.add(prompt, { cwd: "/a" })
      await first.close()
      const second = open(location, {})
      onTestFinished(() => second.close())
      second.add("two")
      expect(await prompts(second.recent({ cwd: "/a" }))).toEqual(["two", "one"])
      expect(await prompts(second.search("on"))).toEqual(["one"])
    })

    test("two histories of one place see each other's prompts and deletions", async () => {
      const location = newLocation()
      const [one, two] = [open(location, {}), open(location, {})]
      onTestFinished(async () => void (await Promise.all([one.close(), two.close()])))
      for (let n = 0; n < 50; n++) {
        one.add(`one ${n}`)
        two.add(`two ${n}`)
      }
      await Promise.all([one.flush(), two.flush()])
      expect(await prompts(one.search("two"))).toEqual(await prompts(two.search("two")))
      expect(await one.recent({ limit: 1000 })).toHaveLength(100)
      const [last] = await one.recent()
      two.add(last?.prompt as string)
      expect(await two.recent({ limit: 1000 })).toHaveLength(100)
      expect(await two.delete(last?.id as number)).toBe(true)
      expect(await one.recent({ limit: 1000 })).toHaveLength(99)
      await one.clear()
      expect(await two.search("one")).toEqual([])
    })
  })
}

export async function prompts(found: Promise<readonly { readonly prompt: string }[]>): Promise<string[]> {
  return (await found).map(({ prompt }) => prompt)
}

function range(from: number, to: number): string[] {
  return Array.from({ length: from - to + 1 }, (_, n) => `prompt ${from - n}`)
}
