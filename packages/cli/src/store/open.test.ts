import { afterEach, expect, test, vi } from "vitest"
import { openStore, type StoreFactory } from "./open.ts"

const CREATE = { create: true }

afterEach(() => void vi.unstubAllEnvs())

async function opened(url: string): Promise<string> {
  const seen: string[] = []
  const record =
    (scheme: string): StoreFactory =>
    (address) => {
      seen.push(`${scheme}|${address}`)
      return {} as ReturnType<StoreFactory>
    }
  await openStore(url, "/project", CREATE, { file: record("file"), memory: record("memory") })
  return seen.join()
}

test("a path needs no scheme, and a drive letter is not a scheme", async () => {
  const urls = ["./x", "/srv/x", "x", "C:\\x", "file:./x", "file:/srv/x", "memory:"]
  expect(await Promise.all(urls.map(opened))).toEqual([
    "file|./x",
    "file|/srv/x",
    "file|x",
    "file|C:\\x",
    "file|./x",
    "file|/srv/x",
    "memory|",
  ])
})

test("an unknown scheme is refused with the known ones", async () => {
  await expect(openStore("gs:bucket", "/project", CREATE)).rejects.toThrow(
    'unknown store type "gs" in gs:bucket; use a path or file:, memory:, sqlite:, s3:, postgres:, postgresql:, http:, https:.',
  )
})

test("the path of a store is relative to the current folder", async () => {
  const urls = ["./s", "/srv/s", "file:s", "file:///srv/s", "sqlite:s", "sqlite:///srv/s"]
  const places = await Promise.all(urls.map(async (url) => (await openStore(url, "/project", CREATE)).description))
  expect(places.map((text) => text.replace(/^[^/]*/, ""))).toEqual([
    "/project/s",
    "/srv/s",
    "/project/s",
    "/srv/s",
    "/project/s",
    "/srv/s",
  ])
})

test("a store without a path on this machine is refused", async () => {
  await expect(openStore("file:", "/project", CREATE)).rejects.toThrow(
    "file: needs a path, for example file:./.sessions.",
  )
  await expect(openStore("file://host/x", "/project", CREATE)).rejects.toThrow("not a path of this machine")
  await expect(openStore("sqlite:", "/project", CREATE)).rejects.toThrow(
    "sqlite: needs a path, for example sqlite:./sessions.db.",
  )
})

test("an S3 store is a bucket and a prefix", async () => {
  vi.stubEnv("AWS_REGION", "eu-central-1")
  const urls = ["s3:agents", "s3:agents/prod", "s3://agents/prod/eu/"]
  const places = await Promise.all(urls.map(async (url) => (await openStore(url, "/project", CREATE)).description))
  expect(places).toEqual(["s3:agents", "s3:agents/prod/", "s3:agents/prod/eu/"])
  await expect(openStore("s3:", "/project", CREATE)).rejects.toThrow(
    "s3: needs a bucket, for example s3:my-bucket/prefix.",
  )
})

test("an S3 store without a region says where to set one", async () => {
  vi.stubEnv("AWS_REGION", undefined)
  vi.stubEnv("AWS_PROFILE", "a profile that no file has")
  await expect(openStore("s3:agents", "/project", CREATE)).rejects.toThrow("s3: needs a region; set AWS_REGION")
})
