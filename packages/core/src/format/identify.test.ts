import { expect, test } from "vitest"
import { entry, header, lines, message } from "../../test/older-logs.ts"
import { identifyLog, unknownVersion } from "./identify.ts"

const pi = { kind: "older", version: 3, format: "pi" }
const ohMyPi = { kind: "older", version: 3, format: "oh-my-pi" }
const ours = { type: "session", format: "@sessions", version: 4, id: "a", timestamp: "2026-01-01T00:00:00.000Z" }

test("a log of ours is identified by format and version, with its header", () => {
  expect(identifyLog(lines(ours))).toEqual({ kind: "sessions", version: 4, header: ours })
})

test("an older log is identified by the header's version; a missing version is 1", () => {
  expect(identifyLog(lines(header(undefined)))).toEqual({ kind: "older", version: 1, format: "pi" })
  expect(identifyLog(lines(header(2)))).toEqual({ kind: "older", version: 2, format: "pi" })
  expect(identifyLog(lines(header(3)))).toEqual(pi)
})

test("BOM, CRLF, blank lines and lines that are not records are skipped before the header", () => {
  const line = JSON.stringify(header(3))
  expect(identifyLog([`\ufeff${line}\r`])).toEqual(pi)
  expect(identifyLog(["", " \r", '{"type":"sess', line])).toEqual(pi)
  expect(identifyLog([`\ufeff${JSON.stringify(ours)}\r`])).toMatchObject({ kind: "sessions", header: ours })
})

test("a title slot before the header identifies oh-my-pi", () => {
  const slot = { type: "title", v: 1, title: "", pad: "   " }
  expect(identifyLog(lines(slot, header(3)))).toEqual(ohMyPi)
  expect(identifyLog(lines(slot))).toMatchObject({ kind: "foreign" })
})

test.each([
  ["oh-my-pi", entry("model_change", "a", null, { model: "p/m" })],
  ["oh-my-pi", entry("compaction", "a", null, { summary: "", firstKeptEntryId: "x", fromExtension: false })],
  ["oh-my-pi", entry("reset_boundary", "a", null)],
  ["oh-my-pi", entry("thinking_level_change", "a", null, { thinkingLevel: null })],
  ["pi", entry("model_change", "a", null, { provider: "p", modelId: "m" })],
  ["pi", entry("session_info", "a", null, { name: "n" })],
  ["pi", entry("branch_summary", "a", null, { fromId: "root", summary: "", fromHook: false })],
  ["pi (not decided)", entry("thinking_level_change", "a", null, { thinkingLevel: "high" })],
])("entries that only one program writes identify the format: %s, %j", (format, sign) => {
  expect(identifyLog(lines(header(3), message("m", null), sign))).toEqual(format.startsWith("pi") ? pi : ohMyPi)
})

test("of a log that both programs have written, the first sign counts", () => {
  const byPi = entry("model_change", "a", null, { provider: "p", modelId: "m" })
  const byOhMyPi = entry("mode_change", "b", "a", { mode: "plan" })
  expect(identifyLog(lines(header(3), byPi, byOhMyPi))).toEqual(pi)
  expect(identifyLog(lines(header(3), byOhMyPi, byPi))).toEqual(ohMyPi)
})

test("a version above ours, and version 4 and above without our format, is newer", () => {
  expect(identifyLog(lines({ ...ours, version: 99 }))).toEqual({ kind: "newer", version: 99 })
  expect(identifyLog(lines(header(4)))).toEqual({ kind: "newer", version: 4 })
  expect(identifyLog(lines(header(99)))).toEqual({ kind: "newer", version: 99 })
  expect(identifyLog(lines({ v: 4, kind: "header", id: "x", storageVersion: 1 }))).toEqual({
    kind: "newer",
    version: 4,
  })
})

test("a log of blank lines is empty", () => {
  expect(identifyLog([])).toEqual({ kind: "empty" })
  expect(identifyLog(["", "\r", "\ufeff"])).toEqual({ kind: "empty" })
})

test.each([
  ["none of its lines is a record", ["hello", "[1,2]"]],
  ['its first record is of type "message", not a session header', lines(message("a", null), header(3))],
  ["the version in its header is not a whole number from 1", lines(header(0))],
  ["the version in its header is not a whole number from 1", lines({ ...header(3), version: "3" })],
  ["its header has no id", lines({ type: "session", version: 3 })],
  ["its header says @sessions, version 3, which never was", lines({ ...ours, version: 3 })],
])("a log that is not a session is foreign, with a reason: %s", (reason, log) => {
  expect(identifyLog(log)).toEqual({ kind: "foreign", reason })
})

test("a reason never repeats more of the file than a few words", () => {
  const identity = identifyLog(lines({ type: "secret ".repeat(1000) }))
  expect(identity.kind === "foreign" ? identity.reason.length : 0).toBeLessThan(150)
})

test("an unknown version has another reason than version 4 of another program", () => {
  expect(unknownVersion(99)).toBe("is of version 99, which this program does not know")
  expect(unknownVersion(4)).toMatch(/^says version 4 and is no log of @sessions; .* up to version 3$/)
})
