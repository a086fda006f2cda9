#!/bin/sh
# collect-root.sh DIR: assembles a root file system in DIR, with Node, its shared libraries, and the package metadata that scanners read.
set -eu
root=$1
node=$(command -v node)
mkdir -p "$root/usr/local/bin" "$root/etc" "$root/tmp" "$root/var/lib/relay/spool" "$root/var/lib/dpkg/status.d"
cp "$node" "$root/usr/local/bin/node"

# Ask the loader directly, because ldd is a script that needs bash. Each library keeps the path where the loader looks for it.
libraries=$(LD_TRACE_LOADED_OBJECTS=1 "$node" | sed -n 's/^.*[[:space:]]\(\/[^ ]*\) (0x.*$/\1/p')
[ -n "$libraries" ]
for library in $libraries; do
  real=$(readlink -f "$library")
  mkdir -p "$root$(dirname "$library")"
  cp "$real" "$root$library"
  # Scanners read versions from the dpkg entry; the copyright notice ships along.
  package=$(dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}")
  package=${package%%:*}
  dpkg-query -s "$package" >"$root/var/lib/dpkg/status.d/$package"
  mkdir -p "$root/usr/share/doc/$package"
  cp -L "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
done

cp -L /etc/os-release "$root/etc/os-release"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
echo 'relay:x:65532:65532:relay:/tmp:/sbin/nologin' >"$root/etc/passwd"
echo 'relay:x:65532:' >"$root/etc/group"
chmod 1777 "$root/tmp"
chown -R 65532:65532 "$root/var/lib/relay"
