-- Only in the container of ops/compose.yaml, after role.sql: the superuser has the password of the role, and needs none on the socket.
alter role current_user password null;
