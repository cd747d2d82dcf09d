/** Runs the deployed module against a real S3 server: cold starts and concurrent functions. */
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"

const server = JSON.parse(process.env["S3_TEST_SERVER"] ?? "{}") as Record<string, string>
const FUNCTION = fileURLToPath(new URL("function-process.ts", import.meta.url))
const BUCKET = `functions-${crypto.randomUUID().slice(0, 8)}`
const env = {
  ...process.env,
  BUCKET,
  TOKEN: "a token of the test",
  AWS_REGION: server["region"],
  AWS_ENDPOINT_URL_S3: server["endpoint"],
  AWS_ACCESS_KEY_ID: server["accessKeyId"],
  AWS_SECRET_ACCESS_KEY: server["secretAccessKey"],
}

/** Starts a function, sends it one request and waits for its end. */
async function call(shape: "fetch" | "lambda", method: string, path: string, body?: unknown): Promise<Answer> {
  const args = [FUNCTION, shape, method, path, ...(body === undefined ? [] : [JSON.stringify(body)])]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return JSON.parse(stdout) as Answer
}

interface Answer {
  readonly status: number
  readonly body: {
    readonly id?: string
    readonly message?: object
    readonly repeated?: boolean
    readonly messages?: readonly { readonly id: string; readonly message: object }[]
  }
}

void test("fetch and Lambda functions share a session, and a repeated request is idempotent", async () => {
  const { endpoint, region, accessKeyId = "", secretAccessKey = "" } = server
  const credentials = { accessKeyId, secretAccessKey }
  const client = new S3Client({ endpoint: endpoint ?? "", region: region ?? "", forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  const { status, body } = await call("fetch", "POST", "/sessions")
  assert.equal(status, 201)
  const turns = `/sessions/${body.id}/turns`
  const question = (n: number): object => ({ id: `01K8ZQ4Y9G3V5N7B2M6X0CTR${n}0`, text: `question ${n}` })

  assert.equal((await call("lambda", "POST", turns, question(1))).body.repeated, false)
  assert.equal((await call("fetch", "POST", turns, question(1))).body.repeated, true)
  // Concurrently: two different requests, one of them twice.
  const racing = [call("fetch", "POST", turns, question(2)), call("lambda", "POST", turns, question(3))]
  const answers = await Promise.all([...racing, call("lambda", "POST", turns, question(2))])
  for (const answer of answers) assert.ok([200, 409].includes(answer.status), JSON.stringify(answer))
  const stored: (object | undefined)[] = []
  for (const n of [1, 2, 3]) {
    const { status, body } = await call("fetch", "POST", turns, question(n))
    assert.equal(status, 200)
    stored[n] = body.message
  }

  const shown = await call("lambda", "GET", `/sessions/${body.id}`)
  const messages = shown.body.messages ?? []
  const ids = messages.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  // Each question once, followed by its answer.
  assert.equal(ids.length, 6)
  for (const n of [1, 2, 3]) {
    const at = ids.indexOf(`01K8ZQ4Y9G3V5N7B2M6X0CTR${n}0`)
    assert.equal(at % 2, 0)
    assert.deepEqual(messages[at + 1]?.message, stored[n])
  }
  assert.equal((await call("lambda", "GET", "/sessions/01K8ZQ4Y9G3V5N7B2M6X0CTRPZ")).status, 404)
  assert.equal((await call("lambda", "GET", "/sessions/x")).status, 400)
})
