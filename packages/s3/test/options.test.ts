import { expect, test } from "vitest"
import { createObjectStorage, createS3ObjectStore, createS3Storage } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { createFakeStore } from "./fake-store.ts"

const client = { send: () => expect.unreachable() }
const given = { store: createFakeStore(new FakeBucket()), name: "s3:test" }

test.each([
  [undefined, "createS3Storage takes an object with the options client, bucket,"],
  ["my-bucket", "createS3Storage takes an object with the options client, bucket,"],
  [{}, "An S3 storage needs a `client`"],
  [{ client: null, bucket: "b" }, "An S3 storage needs a `client`"],
  [{ client, bucket: "" }, "An S3 storage needs the name of a `bucket`."],
  [{ client, bucket: "b", prefx: "p" }, 'createS3Storage has no option "prefx". Did you mean "prefix"?'],
  [{ client, bucket: "b", time: {} }, 'createS3Storage has no option "time".'],
  [{ client, bucket: "b", patience: "long" }, "`patience` must be a whole number from 1."],
])("wrong options of createS3Storage are `invalid`, with a sentence: %j", (options, message) => {
  expect(() => createS3Storage(options as never)).toThrow(invalid(message))
})

test.each([
  [undefined, "createObjectStorage takes an object with the options store, name,"],
  [{}, "An object storage needs a `store`"],
  [{ store: given.store }, "An object storage needs the `name`"],
  [{ ...given, prefix: 5 }, "`prefix` must be a string."],
  [{ ...given, etags: "weak" }, '`etags` must be "quoted" or "bare"'],
  [{ ...given, time: null }, "`time` must be an object"],
  [{ ...given, allowVersions: "no" }, "`allowVersions` must be true or false."],
  [{ ...given, unsafeSingelWriter: true }, 'has no option "unsafeSingelWriter". Did you mean "unsafeSingleWriter"?'],
])("wrong options of createObjectStorage are `invalid`, with a sentence: %j", (options, message) => {
  expect(() => createObjectStorage(options as never)).toThrow(invalid(message))
})

test("a missing client or bucket of createS3ObjectStore is `invalid`", () => {
  expect(() => createS3ObjectStore(undefined as never, "b")).toThrow(invalid("An S3 storage needs a `client`"))
  expect(() => createS3ObjectStore(client as never, undefined as never)).toThrow(invalid("the name of a `bucket`"))
})

function invalid(message: string): unknown {
  return expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) })
}
