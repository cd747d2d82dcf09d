/** Runs the function of `docs/serverless.md` as it stands, against a real S3 server. */
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath, pathToFileURL } from "node:url"
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { folderFor } from "../../../../.config/program.ts"

const PAGE = readFileSync(new URL("../../../../docs/serverless.md", import.meta.url), "utf8")
const server = JSON.parse(process.env["S3_TEST_SERVER"] ?? "{}") as Record<string, string>
/** The blocks find the dependencies of this example. */
const { folder: FOLDER, remove } = folderFor(fileURLToPath(new URL("../..", import.meta.url)))

async function load(block: RegExp): Promise<Record<string, unknown>> {
  const code = Array.from(PAGE.matchAll(/^```ts\n([^]*?)^```$/gm), ([, text = ""]) => text).find((one) =>
    block.test(one),
  )
  const file = join(FOLDER, `${crypto.randomUUID()}.ts`)
  writeFileSync(file, code ?? "")
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>
}

void test("the blocks for Lambda run as they stand: a probe, and turns of concurrent functions, each stored once", async (t) => {
  t.after(remove)
  const { endpoint = "", region = "", accessKeyId = "", secretAccessKey = "" } = server
  Object.assign(process.env, {
    BUCKET: `page-${crypto.randomUUID().slice(0, 8)}`,
    TOKEN: "a token of the test",
    AWS_REGION: region,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  })
  await new S3Client().send(new CreateBucketCommand({ Bucket: process.env["BUCKET"] }))

  const printed = t.mock.method(console, "log", () => undefined)
  await load(/storage\.probe\(\)/)
  assert.deepEqual(printed.mock.calls[0]?.arguments, [{ safe: true, etags: "bare", versioned: false }])

  const [first, second] = [await load(/export async function handler/), await load(/export async function handler/)]
  const call = async (
    instance: Record<string, unknown>,
    event: object,
    token = "a token of the test",
  ): Promise<{ statusCode: number; body?: string }> => {
    const handler = instance["handler"] as (event: object) => Promise<{ statusCode: number; body?: string }>
    return handler({ headers: { authorization: `Bearer ${token}` }, ...event })
  }
  const body = (n: number): string => JSON.stringify({ session: "01K8ZQ4Y9G3V5N7B2M6X0CTRPD", text: `question ${n}` })
  const contentOf = ({ body: text = "" }: { readonly body?: string }): string =>
    (JSON.parse(text) as { readonly content: string }).content

  assert.equal(contentOf(await call(first, { body: body(1) })), "I have read 1 messages.")
  const encoded = { body: Buffer.from(body(2)).toString("base64"), isBase64Encoded: true }
  assert.equal(contentOf(await call(second, encoded)), "I have read 3 messages.")
  const racing = await Promise.all([call(first, { body: body(3) }), call(second, { body: body(4) })])
  assert.deepEqual(new Set(racing.map(contentOf)), new Set(["I have read 5 messages.", "I have read 7 messages."]))
  assert.equal((await call(first, { body: body(5) }, "another")).statusCode, 404)
  t.mock.method(console, "error", () => undefined)
  assert.equal((await call(first, { body: JSON.stringify({ session: "x", text: "y" }) })).statusCode, 400)
})
