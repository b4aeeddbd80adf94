// Original file: proto/inference/open_inference.proto


export interface RepositoryIndexRequest {
  'repositoryName'?: (string);
  'ready'?: (boolean);
}

export interface RepositoryIndexRequest__Output {
  'repositoryName': (string);
  'ready': (boolean);
}
