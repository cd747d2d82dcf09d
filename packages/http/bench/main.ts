/**
 * Appends and reads over HTTP on loopback, beside the same bytes by `fetch` without this package: a POST whose body the server writes to an
 * open file, and a GET of that file as a stream. Run: `node --conditions=@sessions/source --import ./.tools/typescript.mjs packages/http/bench/main.ts`.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createReadStream, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createFileStorage } from "@sessions/fs"
import { connectHttpStorage } from "../src/client.ts"
import { toNodeListener } from "../src/node.ts"
import { createStorageHandler } from "../src/server.ts"

const LINE = JSON.stringify({ type: "message", text: "x".repeat(2_000) })
const ROUNDS = 7
const APPENDS = 300
/** 50 MB. */
const LINES = 25_000

if (process.send === undefined) await measure()
else await serve(process.argv[2] ?? "")

/** The servers of both, in a process of their own. */
async function serve(root: string): Promise<void> {
  const file = join(root, "raw")
  const fd = openSync(file, "a")
  const raw: RequestListener = (incoming, outgoing) => {
    if (incoming.method === "GET") return void createReadStream(file).pipe(outgoing)
    const parts: Buffer[] = []
    incoming.on("data", (part: Buffer) => parts.push(part))
    incoming.on("end", () => {
      writeSync(fd, Buffer.concat(parts))
      outgoing.setHeader("content-type", "application/json")
      outgoing.end("{}")
    })
  }
  const storage = createFileStorage({ root: join(root, "sessions") })
  const own = toNodeListener(createStorageHandler({ authorize: () => "me", storage: () => storage }))
  process.send?.([await listen(raw), await listen(own)])
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function measure(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "sessions-http-"))
  const child = fork(new URL(import.meta.url), [root], { execArgv: process.execArgv })
  const [[raw, url]] = (await once(child, "message")) as [[string, string]]
  const storage = await connectHttpStorage({ url })
  let head = await storage.append("a", [LINE], { expect: 0 })

  const appends = { raw: [] as number[], own: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    appends.raw.push(
      await timed(async () => {
        for (let n = 0; n < APPENDS; n++) await (await fetch(raw, { method: "POST", body: `${LINE}\n` })).json()
      }),
    )
    appends.own.push(
      await timed(async () => {
        for (let n = 0; n < APPENDS; n++) head = await storage.append("a", [LINE], { expect: head })
      }),
    )
  }

  const more = Array.from({ length: LINES }, () => LINE)
  for (let at = 0; at < LINES; at += 5_000) {
    const batch = more.slice(at, at + 5_000)
    await (await fetch(raw, { method: "POST", body: `${batch.join("\n")}\n` })).json()
    head = await storage.append("a", batch, { expect: head })
  }
  const reads = { raw: [] as number[], own: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    reads.raw.push(
      await timed(async () => {
        for await (const _ of (await fetch(raw)).body ?? []);
      }),
    )
    reads.own.push(
      await timed(async () => {
        for await (const _ of storage.read("a"));
      }),
    )
  }
  show("append of 2 KB", appends)
  show("read of 50 MB", reads)
  await storage[Symbol.asyncDispose]()
  child.kill()
  rmSync(root, { recursive: true })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** The median of the ratios of the rounds, each of which measured both one after the other. */
function show(what: string, { raw, own }: { readonly raw: readonly number[]; readonly own: readonly number[] }): void {
  const ratios = raw.map((ms, round) => ms / (own[round] as number)).toSorted((a, b) => a - b)
  const middle = (ratios[Math.floor(ratios.length / 2)] as number).toFixed(2)
  const times = (all: readonly number[]): string => all.map((ms) => ms.toFixed(0)).join(" ")
  console.info(`${what}: ${middle} of raw fetch (ms a round: raw ${times(raw)}, own ${times(own)})`)
}
