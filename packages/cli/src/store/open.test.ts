import { expect, test } from "vitest"
import { openStore } from "./open.ts"
import type { StoreFactory } from "./open.ts"

function opened(url: string): string {
  const seen: string[] = []
  const note =
    (scheme: string): StoreFactory =>
    (address) => {
      seen.push(`${scheme}|${address}`)
      return {} as ReturnType<StoreFactory>
    }
  openStore(url, "/project", { file: note("file"), memory: note("memory") })
  return seen.join()
}

test("a path needs no scheme, and a drive letter is none", () => {
  const urls = ["./x", "/srv/x", "x", "C:\\x", "file:./x", "file:/srv/x", "memory:"]
  expect(urls.map(opened)).toEqual([
    "file|./x",
    "file|/srv/x",
    "file|x",
    "file|C:\\x",
    "file|./x",
    "file|/srv/x",
    "memory|",
  ])
})

test("an unknown scheme is refused with the ones that are known", () => {
  expect(() => openStore("s3:bucket", "/project")).toThrow(
    'there is no kind of store called "s3"; known are file:, memory:.',
  )
})

test("a file store is the folder that its address names from the current one", () => {
  const folders = ["./s", "/srv/s", "file:s", "file:///srv/s"].map((url) => openStore(url, "/project").description)
  expect(folders.map((text) => text.replace(/^[^/]*/, ""))).toEqual(["/project/s", "/srv/s", "/project/s", "/srv/s"])
})

test("a store without a place is refused", () => {
  expect(() => openStore("file:", "/project")).toThrow("file: needs a folder")
  expect(() => openStore("file://host/x", "/project")).toThrow("no file URL of this machine")
})
