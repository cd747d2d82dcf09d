/** The policy of `docs/serverless.md` has the actions that the adapter's requests need, all of them and no other, on a server that enforces it. */
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { CreateBucketCommand, PutBucketPolicyCommand, PutObjectCommand } from "@aws-sdk/client-s3"
import type { Head } from "@sessions/core/storage"
import { createS3Storage } from "@sessions/s3"
import { linesOf } from "../lines.ts"
import { client, createClient, openIn, server } from "./test-server.ts"

interface Policy {
  readonly Version: string
  readonly Statement: readonly { readonly Action: readonly string[]; readonly Resource: string }[]
}

/** The first JSON block of the page that is a policy. Its bucket is `agents`, its prefix `prod`. */
const PAGE = readFileSync(new URL("../../../../docs/serverless.md", import.meta.url), "utf8")
const POLICY = JSON.parse(/^```json\n(\{\n {2}"Version"[^]*?)^```$/m.exec(PAGE)?.[1] ?? "") as Policy

/** The permission for each operation: https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html. */
const ACTIONS: Readonly<Record<string, string>> = {
  GetObjectCommand: "s3:GetObject",
  HeadObjectCommand: "s3:GetObject",
  PutObjectCommand: "s3:PutObject",
  DeleteObjectCommand: "s3:DeleteObject",
  ListObjectsV2Command: "s3:ListBucket",
}
const allowed = POLICY.Statement.flatMap(({ Action }) => Action)

/** Gives another user the policy on a new bucket, without some of its actions. */
async function bucketWith(actions: readonly string[]): Promise<string> {
  const Bucket = `policy-${crypto.randomUUID().slice(0, 8)}`
  await client.send(new CreateBucketCommand({ Bucket }))
  const Statement = POLICY.Statement.map(({ Action, Resource, ...rest }) => ({
    ...rest,
    Principal: { AWS: ["arn:aws:iam:::user/stranger"] },
    Action: Action.filter((action) => actions.includes(action)),
    Resource: Resource.replace(":::agents", `:::${Bucket}`),
  })).filter(({ Action }) => Action.length > 0)
  await client.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ ...POLICY, Statement }) }))
  return Bucket
}

/** Every kind of request that the adapter sends. Resolves with the operations. */
async function everything(bucket: string, prefix: string): Promise<ReadonlySet<string>> {
  const stranger = createClient(server.stranger)
  const operations = new Set<string>()
  stranger.middlewareStack.add((next, { commandName = "" }) => (args) => {
    operations.add(commandName)
    return next(args)
  })
  const storage = createS3Storage({
    client: stranger,
    bucket,
    prefix,
    // With lines of 2 KB some dozens are sealed and merged.
    tailBytes: 60_000,
    segmentBytes: 20_000,
    mergedBytes: 40_000,
    keepTombstones: 1,
  })
  assert.deepEqual(await storage.probe(), { safe: true, etags: "bare", versioned: false })
  assert.equal(await storage.head("missing"), undefined)
  // Ceph lets everybody read what they have written themselves.
  await openIn(bucket, prefix).append("b", linesOf(2), { expect: 0 })
  assert.equal((await storage.head("b"))?.next, 2)
  let head: 0 | Head = 0
  for (let n = 0; n < 100; n += 10) head = await storage.append("a", linesOf(10, n), { expect: head })
  for await (const { lines } of storage.read("a")) assert.ok(lines.length > 0)
  for await (const { error } of storage.list()) assert.equal(error, undefined)
  const version = await storage.docs.put("sessions/a/x", "{}", { expect: null })
  await storage.docs.delete("sessions/a/x", { expect: version })
  await storage.blobs.delete(await storage.blobs.put(new Uint8Array([1])))
  assert.equal((await storage.delete("a")).purged, true, "a deleted session is not purged")
  await storage.collect()
  await storage[Symbol.asyncDispose]()
  return operations
}

void test("the policy allows every operation that the adapter sends, and has no other action", async () => {
  const operations = await everything(await bucketWith(allowed), "prod")
  assert.deepEqual(new Set(allowed), new Set(Array.from(operations, (name) => ACTIONS[name])))
  assert.equal(new Set(allowed).size, allowed.length)
})

void test("without any one of its actions the adapter is refused and says which it needs, or does not report a deletion as purged", async () => {
  const NEEDS = /they need s3:GetObject, s3:PutObject and s3:DeleteObject .* s3:ListBucket/
  for (const missing of allowed) {
    const bucket = await bucketWith(allowed.filter((action) => action !== missing))
    const expected = missing === "s3:DeleteObject" ? /is not purged/ : NEEDS
    await assert.rejects(everything(bucket, "prod"), expected, `without ${missing}`)
  }
})

void test("the policy allows nothing outside of its prefix", async () => {
  const bucket = await bucketWith(allowed)
  await assert.rejects(everything(bucket, "staging"), /lack a permission/)
  const put = new PutObjectCommand({ Bucket: bucket, Key: "prodigal/x", Body: "x" })
  await assert.rejects(createClient(server.stranger).send(put), { name: "AccessDenied" })
})
