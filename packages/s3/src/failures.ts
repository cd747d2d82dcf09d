/**
 * The failures of an object store, by the kinds that `s3-errors.ts` and the reading code tell apart: whether each passes, and what to do. The
 * code and the sentence of an error follow from its row, and so does its row in `docs/errors.md`.
 */
import type { Failure } from "@sessions/core/storage"
import type { StoreFailure } from "./object-store/object-store.ts"

export const FAILURES: readonly (Failure & { readonly when: StoreFailure })[] = [
  {
    when: "precondition",
    passes: "by itself",
    code: "unavailable",
    act: "other writers use the same key; repeat the call",
  },
  { when: "busy", passes: "by itself", code: "unavailable", act: "other writers use the same key; repeat the call" },
  {
    when: "slow",
    passes: "by itself",
    code: "unavailable",
    act: "the store throttles requests; repeat the call later",
  },
  {
    when: "network",
    passes: "by itself",
    code: "unavailable",
    act: "the store cannot be reached; check the endpoint and the network",
  },
  { when: "server", passes: "by itself", code: "unavailable", act: "the store failed; repeat the call" },
  {
    when: "denied",
    passes: "after",
    code: "misconfigured",
    act: "the credentials lack a permission; they need s3:GetObject, s3:PutObject and s3:DeleteObject on the keys under the prefix, and s3:ListBucket on the bucket (without it S3 answers 403 for an object that does not exist)",
  },
  {
    when: "credentials",
    passes: "after",
    code: "misconfigured",
    act: "the store does not accept these credentials; give the client valid ones that have not expired",
  },
  {
    when: "bucket",
    passes: "after",
    code: "misconfigured",
    act: "this client finds no such bucket; create it, or correct `bucket` and the client's region or endpoint",
  },
  {
    when: "clock",
    passes: "after",
    code: "misconfigured",
    act: "this machine's clock is too far from the store's; set it",
  },
  {
    when: "quota",
    passes: "after",
    code: "quota",
    act: "the store is full; make room or raise the quota, and repeat the call",
  },
  {
    when: "unreachable",
    passes: "by itself",
    code: "unavailable",
    act: "nothing accepts this connection; correct the client's `endpoint`, or start the store",
  },
  {
    when: "configuration",
    passes: "after",
    code: "misconfigured",
    act: "nothing was sent; give the client a `region` and, for a store other than S3, its `endpoint` with https:// or http://",
  },
  {
    when: "foreign",
    passes: "by itself",
    code: "unavailable",
    act: "no store answers so; look at the client's `endpoint`, and at the proxy, gateway or sign-in page in front of it",
  },
  {
    when: "versioned",
    passes: "never",
    code: "unsupported",
    act: "the bucket is versioned, so it would keep what is replaced and deleted; use a bucket without versioning, or give it a lifecycle rule that expires noncurrent versions and set `allowVersions`",
  },
  {
    when: "checksum",
    passes: "after",
    code: "misconfigured",
    act: 'the store sends the checksum of the whole object with a part of it; give the S3Client `responseChecksumValidation: "WHEN_REQUIRED"`',
  },
  {
    when: "range",
    passes: "never",
    code: "corrupt",
    act: "the object is shorter than it was written, so it was changed from outside; put back the object as it was",
  },
  {
    when: "archived",
    passes: "after",
    code: "misconfigured",
    act: "the object was moved to an archive; restore it, and except the prefix from the rule of the bucket that moves objects there",
  },
  {
    when: "redirected",
    passes: "by itself",
    code: "unavailable",
    act: "the name of a new bucket is not known everywhere yet; give the client the bucket's region, or wait some minutes",
  },
  {
    when: "refused",
    passes: "after",
    code: "misconfigured",
    act: "the store refused the request; its message says why",
  },
]
