import { expect, test } from "vitest"
import { openStore, type StoreFactory } from "./open.ts"

function opened(url: string): string {
  const seen: string[] = []
  const record =
    (scheme: string): StoreFactory =>
    (address) => {
      seen.push(`${scheme}|${address}`)
      return {} as ReturnType<StoreFactory>
    }
  openStore(url, "/project", { file: record("file"), memory: record("memory") })
  return seen.join()
}

test("a path needs no scheme, and a drive letter is not a scheme", () => {
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

test("an unknown scheme is refused with the known ones", () => {
  expect(() => openStore("s3:bucket", "/project")).toThrow(
    'unknown store type "s3" in s3:bucket; use a path or file:, memory:.',
  )
})

test("the folder of a file store is relative to the current folder", () => {
  const folders = ["./s", "/srv/s", "file:s", "file:///srv/s"].map((url) => openStore(url, "/project").description)
  expect(folders.map((text) => text.replace(/^[^/]*/, ""))).toEqual(["/project/s", "/srv/s", "/project/s", "/srv/s"])
})

test("a file store without a folder on this machine is refused", () => {
  expect(() => openStore("file:", "/project")).toThrow("file: needs a folder")
  expect(() => openStore("file://host/x", "/project")).toThrow("not a file URL of this machine")
})
