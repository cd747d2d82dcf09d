import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { readArguments } from "../src/cli/arguments.ts"
import { asLine, asTap, asText, type FullReport, totalsOf } from "../src/cli/report.ts"
import { checkProperties } from "../src/cli/properties.ts"
import { loadSubjects } from "../src/cli/load-subjects.ts"
import { run } from "../src/index.ts"
import { changed, plain } from "../src/mutants/sound-subjects.ts"

const folder = mkdtempSync(join(tmpdir(), "conformance-cli-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (...args: string[]): ReturnType<typeof readArguments> => readArguments(args, () => 42)

describe("arguments", () => {
  test("without options everything runs, with a seed from the clock", () => {
    expect(read("./s.ts")).toEqual({
      file: "./s.ts",
      format: "text",
      only: undefined,
      timeLimit: 120_000,
      properties: { runs: 100, seed: 42 },
    })
  })

  test("cases and groups select, not case-sensitive, and exclude the properties unless they are named", () => {
    expect(read("s", "--group", "CAS", "--case", "append-07")).toMatchObject({ only: ["append-07", "cas"] })
    expect(read("s", "--group", "CAS")?.properties).toBeUndefined()
    expect(read("s", "--group", "properties", "--seed", "7", "--runs", "5", "--path", "3:1")).toMatchObject({
      only: [],
      properties: { seed: 7, runs: 5, path: "3:1" },
    })
  })

  test("--help runs nothing", () => expect(read("--help")).toBeUndefined())

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no module", [], /Name the module/],
    ["two modules", ["a", "b"], /one too many/],
    ["an unknown case", ["a", "--case", "APPEND-99"], /no case or group named append-99/],
    ["an unknown option", ["a", "--cas"], /--cas/],
    ["a seed that is not a number", ["a", "--seed", "x"], /--seed takes a whole number from 0, not "x"/],
    ["two formats", ["a", "--json", "--tap"], /either --json or --tap/],
  ]
  for (const [name, args, message] of wrong) {
    test(`${name} is refused with a sentence`, () => expect(() => read(...args)).toThrow(message))
  }
})

describe("a module", () => {
  const module = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  test("may export a default, a `subject`, or an array", async () => {
    const subject = "{ name: 'x', makeLocation() {}, open() {} }"
    expect(await loadSubjects(module("default.mjs", `export default ${subject}`))).toHaveLength(1)
    expect(await loadSubjects(module("named.mjs", `export const subject = ${subject}`))).toHaveLength(1)
    expect(await loadSubjects(module("both.mjs", `export default [${subject}, ${subject}]`))).toHaveLength(2)
  })

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ["that exports nothing", "export {}", /exports neither a default nor `subject`/],
    ["whose subject lacks methods", "export default { name: 'x' }", /lacks makeLocation\(\).*; open\(location\)/],
    ["that does not load", "throw new Error('no driver')", /could not be loaded: no driver/],
    ["with an empty list", "export default []", /empty list/],
  ]
  for (const [name, text, message] of wrong) {
    test(`${name} is refused with a sentence`, async () => {
      await expect(loadSubjects(module(`${name.replaceAll(" ", "-")}.mjs`, text))).rejects.toThrow(message)
    })
  }

  test("that is missing is refused with its path", async () => {
    await expect(loadSubjects(join(folder, "missing.mjs"))).rejects.toThrow(/There is no file .*missing\.mjs/)
  })
})

describe("a report", () => {
  const headless = changed("headless", () => ({ head: async () => undefined }))
  const reportOf = async (subject: typeof plain, only: string[]): Promise<FullReport> => ({
    ...(await run(subject, { only })),
    properties: await checkProperties(subject, { properties: { runs: 60, seed: 1 }, timeLimit: 5_000 }),
  })

  test("as text has version, runtime, capabilities, skipped cases with reasons, and whole failure messages", async () => {
    const text = asText(await reportOf(headless, ["CREATE-01", "TAILS-01"]))
    expect(text).toMatch(/^headless, with suite \d\S* on (node|bun|deno) \S+, in/)
    expect(text).toContain("durability none, atomicBatch all, writers host")
    expect(text).toContain("skipped TAILS-01: needs the subject's tearTail()")
    expect(text).toMatch(/CREATE-01 headless[^]*clause[^]*expected[^]*actual/)
    expect(text).toMatch(/property sequential failed[^]*again +\{ seed: 1, path:/)
  })

  test("as TAP has one line per result, failure messages in blocks, and SKIP with its reason", async () => {
    const report = await reportOf(headless, ["CREATE-01", "TAILS-01"])
    const lines = asTap([report]).split("\n")
    expect(lines.slice(0, 3)).toEqual([
      "TAP version 14",
      "1..4",
      "not ok 1 - headless CREATE-01 `expect: 0` creates a session and returns its head",
    ])
    expect(lines).toContain("  message: |")
    expect(
      lines.some((line) => /^ok 2 - headless TAILS-01 .* # SKIP needs the subject's tearTail\(\)$/.test(line)),
    ).toBe(true)
  })

  test("counts cases and properties of all subjects together", async () => {
    const reports = [await reportOf(plain, ["CREATE-01"]), await reportOf(headless, ["CREATE-01", "TAILS-01"])]
    expect(asLine(totalsOf(reports))).toBe("3 passed, 3 failed, 1 skipped")
  })
})
