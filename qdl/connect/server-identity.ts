import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/** Characters of a certificate's names in a message: some have hundreds. */
const NAMES_SHOWN = 300;

/**
 * As Node.js checks whether a certificate is for a host, but its error names all that the certificate has. Node's own
 * lists no DNS names where the host is an IP address.
 */
export function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkServerIdentity(host, certificate);
  if (error === undefined) return undefined;
  const { subjectaltname = '', subject } = certificate;
  // RFC 9525: a common name counts for nothing; old certificates have no other.
  const names = subjectaltname === '' ? `CN=${subject?.CN ?? ''}` : subjectaltname;
  const shown = names.length > NAMES_SHOWN ? `${names.slice(0, NAMES_SHOWN)}...` : names;
  error.message = `Hostname/IP does not match certificate's altnames: ${host} is not in ${shown}`;
  return error;
}
