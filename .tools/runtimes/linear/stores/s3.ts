/** S3: processes on one prefix of the test server, through a proxy that loses, delays, repeats and cuts off requests. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle } from "../../../../packages/fs/test/crash/processes.ts"
import { createDice } from "../../../../packages/core/test/dice.ts"
import { startFaultProxy } from "../../../../packages/s3/test/server/fault-proxy.ts"
import { BUCKET, makeBucket, newPrefix, server } from "../../../../packages/s3/test/server/test-server.ts"
import { readInProcess, startProcess } from "./processes.ts"
import type { Store } from "./store.ts"

/** The share of requests with a fault. */
const FAULTS = 0.25

const NODE = { name: "node", command: process.execPath, args: [] } as const

export async function openStore(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), "sessions-linear-"))
  const [program = ""] = await bundle(folder, [new URL("../client/s3.ts", import.meta.url)])
  await makeBucket()
  return {
    atomicBatch: "all",
    async open(seed, faults) {
      const prefix = newPrefix()
      const proxy = await startFaultProxy(server.endpoint, createDice(seed).next)
      proxy.setFaultRate(faults ? FAULTS : 0)
      const place = (endpoint: string): object => ({ endpoint, bucket: BUCKET, prefix })
      return {
        start: (plan, recording, begun) =>
          startProcess(NODE, program, { ...plan, place: place(proxy.endpoint) }, recording, begun),
        // It closes once all delayed requests have arrived.
        settle: () => proxy.close(),
        readStored: (plan) => readInProcess(NODE, program, { ...plan, place: place(server.endpoint) }),
        remove: async () => undefined,
      }
    },
    close: async () => rmSync(folder, { recursive: true }),
  }
}
