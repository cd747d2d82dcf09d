/** Counts the requests of the handler to a real S3 server; `docs/serverless.md` says what they cost. */
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { createSessions } from "@sessions/core"
import { createS3Storage } from "@sessions/s3"
import { createHandler } from "../../handler.ts"

const PAGE = readFileSync(new URL("../../../../docs/serverless.md", import.meta.url), "utf8")
const { endpoint, region, accessKeyId, secretAccessKey } = JSON.parse(process.env["S3_TEST_SERVER"] ?? "{}") as Record<
  "endpoint" | "region" | "accessKeyId" | "secretAccessKey",
  string
>
const BUCKET = `costs-${crypto.randomUUID().slice(0, 8)}`
/** How S3 charges for an operation. */
const CLASSES: Readonly<Record<string, string>> = {
  PutObjectCommand: "PUT",
  GetObjectCommand: "GET",
  HeadObjectCommand: "GET",
  ListObjectsV2Command: "LIST",
  DeleteObjectCommand: "DELETE",
}
let counts: Record<string, number> = {}

/** A new instance of the function: nothing is in its memory. */
function start(etags?: "bare") {
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } })
  client.middlewareStack.add((next, { commandName = "" }) => (args) => {
    const counted = CLASSES[commandName] ?? commandName
    counts[counted] = (counts[counted] ?? 0) + 1
    return next(args)
  })
  const storage = createS3Storage({ client, bucket: BUCKET, prefix: "agents", ...(etags && { etags }) })
  const sessions = createSessions({ storage, ulidsOnly: true })
  const handle = createHandler({
    sessions,
    ask: async () => ({ role: "assistant", content: [{ type: "text", text: "x".repeat(2_000) }] }),
    authorize: () => true,
  })
  const send = async (method: string, path: string, body?: object) => {
    const url = `https://agent.example/sessions${path}`
    const response = await handle(
      new Request(url, body === undefined ? { method } : { method, body: JSON.stringify(body) }),
    )
    assert.ok(response.ok, await response.clone().text())
    return (await response.json()) as { readonly id: string }
  }
  return { client, sessions, send }
}

async function countOf(work: () => Promise<unknown>): Promise<string> {
  counts = {}
  await work()
  const classes = ["PUT", "GET", "LIST", "DELETE"].filter((name) => counts[name] !== undefined)
  assert.deepEqual(new Set(classes), new Set(Object.keys(counts)))
  return classes.map((name) => `${counts[name]} ${name}`).join(", ")
}

void test("a turn costs the requests that the page says", async () => {
  const first = start()
  await first.client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  const counted: Record<string, string> = {}
  const question = (n: number): object => ({ id: `01K8ZQ4Y9G3V5N7B2M6X0CTR${n}0`, text: "y".repeat(200) })

  counted["a session is created, the store is tried"] = await countOf(() => first.send("POST", ""))
  const warm = start("bare")
  let id = ""
  counted["a session is created, with `etags` given"] = await countOf(
    async () => ({ id } = await warm.send("POST", "")),
  )
  const turns = `/${id}/turns`
  counted["a turn, in the function that had the session last"] = await countOf(() =>
    warm.send("POST", turns, question(1)),
  )
  counted["a turn, in a function that starts"] = await countOf(() => start("bare").send("POST", turns, question(2)))
  counted["a repeated turn"] = await countOf(() => start("bare").send("POST", turns, question(2)))
  counted["the newest messages of a session"] = await countOf(() => start("bare").send("GET", `/${id}`))
  for (let n = 0; n < 20; n++) await warm.send("POST", "")
  counted["20 rows of a list"] = await countOf(() => start("bare").sessions.list({ limit: 20 }))
  counted["a session is deleted"] = await countOf(() => start("bare").sessions.delete(id))

  const rows = PAGE.matchAll(/^\| ([^|]+) \| ((?:\d+ (?:PUT|GET|LIST|DELETE)(?:, )?)+) \|/gm)
  assert.deepEqual(Object.fromEntries(Array.from(rows, ([, what, requests]) => [what, requests])), counted)
})
