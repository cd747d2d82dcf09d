/** The places of rounds, and the servers behind them: a bucket in memory that speaks the protocol of S3, the storage over HTTP, PostgreSQL if it is there. */
import { mkdirSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createFileStorage } from "@sessions/fs"
import { toNodeListener } from "../../../http/src/node.ts"
import { createStorageHandler } from "../../../http/src/server.ts"
import { serveBucket } from "../../../s3/test/bucket-server.ts"
import { FakeBucket } from "../../../s3/test/fake-bucket.ts"
import type { KINDS, Place } from "./plan.ts"

export type Kind = (typeof KINDS)[number]

export interface Servers {
  /** A place of its own for the round whose folder this is. */
  placeFor(kind: Kind, folder: string, round: number): Place
  close(): void
}

export async function startServers(postgres: string): Promise<Servers> {
  const storages = new Map<string, ReturnType<typeof createFileStorage>>()
  const http = await listen(
    toNodeListener(
      createStorageHandler({
        authorize: (request) => request.headers.get("authorization"),
        storage(token: string) {
          const storage = storages.get(token) ?? createFileStorage({ root: token })
          storages.set(token, storage)
          return storage
        },
      }),
    ),
  )
  const bucket = new FakeBucket()
  const s3 = await listen(bucketListener(bucket))
  return {
    placeFor(kind, folder, round) {
      if (kind === "postgres") return { kind, url: postgres, schema: `calls_${process.pid}_${round}` }
      if (kind === "s3") return { kind, endpoint: s3.url, prefix: `round-${round}` }
      const root = join(folder, "sessions")
      mkdirSync(root)
      return kind === "http" ? { kind, url: http.url, token: root } : { kind, folder: root }
    },
    close() {
      http.close()
      s3.close()
    },
  }
}

function bucketListener(bucket: FakeBucket): RequestListener {
  return (request, response) => {
    const answer = async (): Promise<void> => {
      const pieces: Uint8Array[] = []
      for await (const piece of request) pieces.push(piece as Uint8Array)
      const { method = "GET", url = "/", headers } = request
      const isWrite = method === "PUT" || method === "POST"
      const {
        status,
        headers: sent,
        body,
      } = await serveBucket(bucket, `http://bucket${url}`, {
        method,
        headers: headers as Record<string, string>,
        ...(isWrite && { body: Buffer.concat(pieces) }),
      })
      response.writeHead(status, Object.fromEntries(sent))
      response.end(body === null ? undefined : new Uint8Array(await new Response(body).arrayBuffer()))
    }
    // Of a client that is gone.
    answer().catch(() => response.destroy())
  }
}

async function listen(listener: RequestListener): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
