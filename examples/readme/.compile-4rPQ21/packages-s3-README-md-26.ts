import { S3Client } from "@aws-sdk/client-s3"
import { createS3Storage } from "@sessions/s3"

const storage = createS3Storage({ client: new S3Client(), bucket: "agents", prefix: "prod" })
console.log(await storage.probe()) // { safe: true, etags: "quoted", versioned: false }
export {}
