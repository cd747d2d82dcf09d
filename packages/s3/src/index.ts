export type { Collected } from "./garbage-collection/collect.ts"
export type { S3Probe } from "./tail/conditional-writes.ts"
export type { S3Tuning } from "./base/settings.ts"
export type { ObjectStorageOptions, S3Storage, S3StorageOptions } from "./storage.ts"
export { createObjectStorage, createS3Storage } from "./storage.ts"
export type {
  DeleteOptions,
  EtagForm,
  GetOptions,
  ListedObject,
  ObjectInfo,
  ObjectPage,
  ObjectStore,
  PutCondition,
  PutOptions,
  PutResult,
  RequestOptions,
  StoredObject,
  StoreFailure,
} from "./object-store/object-store.ts"
export { ObjectStoreError } from "./object-store/object-store.ts"
export { createS3ObjectStore } from "./object-store/s3-object-store.ts"
export type { Time } from "./base/time.ts"
