import { expect, onTestFinished, test, vi } from "vitest"
import type { Message } from "../../format/message.ts"
import type { Entry } from "../../format/entry.ts"
import { collectFiles, withFileLists, withoutFileLists } from "./files.ts"
import type { Fields } from "../../format/shape.ts"

test("files are those that the tools read and changed, sorted; a changed one is only in that list", () => {
  const files = collectFiles([
    calls(["read", { path: "b.ts" }], ["read_file", { path: "a.ts" }], ["edit", { path: "c.ts" }]),
    calls(["write_file", { path: "b.ts" }], ["edit_file", { path: "d.ts" }], ["write", { path: "c.ts" }]),
    calls(["bash", { path: "no.ts" }], ["read", { path: 5 }], ["read", {}], ["ls", { path: "no" }]),
    { role: "user", content: [] },
    { role: "bashExecution", command: "cat x" },
  ])
  expect(files).toEqual({ readFiles: ["a.ts"], modifiedFiles: ["b.ts", "c.ts", "d.ts"] })
})

test("a call that failed is not listed; one without a result is, and so is one whose id comes again", () => {
  const call = (id: string, name: string, path: string): Message => ({
    role: "assistant",
    content: [{ type: "toolCall", id, name, arguments: { path } }],
  })
  const result = (toolCallId: string, isError: boolean): Message => ({
    role: "toolResult",
    toolCallId,
    toolName: "write",
    content: [],
    isError,
  })
  const files = collectFiles([
    call("1", "write", "denied.ts"),
    call("2", "read", "missing.ts"),
    call("3", "write", "done.ts"),
    result("1", true),
    result("3", false),
    result("2", true),
    call("4", "edit", "denied and done.ts"),
    result("4", true),
    call("1", "write", "no answer.ts"),
    call("1", "write", "denied again.ts"),
    result("1", true),
    call("4", "write", "denied and done.ts"),
    result("4", false),
    call("5", "edit", "interrupted.ts"),
  ])
  expect(files).toEqual({
    readFiles: [],
    modifiedFiles: ["denied and done.ts", "done.ts", "interrupted.ts", "no answer.ts"],
  })
})

test("files accumulate over compactions, but not from an extension's compaction or an invalid list", () => {
  const before = { type: "compaction", readFiles: ["a.ts", 5, "b.ts"], modifiedFiles: ["c.ts"] } as unknown as Entry
  const now = [calls(["edit", { path: "a.ts" }], ["read", { path: "c.ts" }])]
  expect(collectFiles(now, before)).toEqual({ readFiles: ["b.ts"], modifiedFiles: ["a.ts", "c.ts"] })
  expect(collectFiles(now, { ...before, fromExtension: true })).toEqual({
    readFiles: ["c.ts"],
    modifiedFiles: ["a.ts"],
  })
  const broken = { ...before, readFiles: "a.ts", modifiedFiles: null } as unknown as Entry
  expect(collectFiles([], broken)).toEqual({ readFiles: [], modifiedFiles: [] })
})

test("the lists are at a summary's end and are removed as they were added, for any paths", () => {
  const summaries = ["## Goal\nwork", "it says </read-files> itself", ""]
  const lists = [
    { readFiles: ["a.ts", "b c.ts"], modifiedFiles: ["d.ts"] },
    { readFiles: ["a.ts"], modifiedFiles: [] },
    { readFiles: [], modifiedFiles: ["x<y>.ts", "new\nline.ts", "</modified-files>"] },
    { readFiles: [], modifiedFiles: [] },
  ]
  for (const summary of summaries)
    for (const files of lists) expect(withoutFileLists(withFileLists(summary, files))).toBe(summary)
  expect(withFileLists("s", lists[0] as (typeof lists)[0])).toBe(
    "s\n\n<read-files>\na.ts\nb c.ts\n</read-files>\n<modified-files>\nd.ts\n</modified-files>",
  )
  expect(withFileLists("s", lists[3] as (typeof lists)[0])).toBe("s")
})

test("lists are looked for at the end of a summary only, one by one, however many there are", () => {
  const list = "\n<read-files>\n</read-files>"
  const searches = vi.spyOn(String.prototype, "lastIndexOf")
  onTestFinished(() => searches.mockRestore())
  for (const [summary, kept, most] of [
    [`S${list.repeat(50_000)}x`, undefined, 0],
    [`S${list.repeat(50_000)}${" ".repeat(50_000)}x`, undefined, 0],
    [`S${list.repeat(2_000)}\n\t`, "S", 2_000],
    [`${"<".repeat(50_000)}\n</read-files>`, undefined, 1],
  ] as const) {
    searches.mockClear()
    expect(withoutFileLists(summary) === (kept ?? summary)).toBe(true)
    expect(searches.mock.calls.length).toBeLessThanOrEqual(most)
  }
})

function calls(...all: readonly (readonly [string, Fields])[]): Message {
  const content = all.map(([name, args], n) => ({ type: "toolCall" as const, id: `c${n}`, name, arguments: args }))
  return { role: "assistant", content }
}
